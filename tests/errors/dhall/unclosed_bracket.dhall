let value = ./parts/unclosed.dhall

in  value
