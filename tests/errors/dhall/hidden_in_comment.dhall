{- {- -} (env:HOME as Text) ++ ./parts/good.dhall
