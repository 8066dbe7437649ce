{- a comment {- inside -}
1
