-- Functions of lists.
{ all = ./all.dhall
, any = ./any.dhall
, concat = ./concat.dhall
, concatMap = ./concatMap.dhall
, filter = ./filter.dhall
, head = ./head.dhall
, indexed = ./indexed.dhall
, last = ./last.dhall
, length = ./length.dhall
, map = ./map.dhall
, null = ./null.dhall
, reverse = ./reverse.dhall
}
