./parts/nowhere/good.dhall
