./parts/good.dhall as Bytes
