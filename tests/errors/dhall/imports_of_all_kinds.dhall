let home = env:HOME as Text

let page = https://example.org/package.dhall using (toMap { a = "b" })

let users = /etc/passwd as Text

let mine = ~/secret.dhall

let above = ../../secret.dhall

let sneaky = ./parts/../../../secret.dhall

let none = missing

let place = ./parts/good.dhall as Location

-- none of these is one: env:HOME, /etc/passwd, https://example.org
let text = "./no.dhall ${env:USER as Text} /no"

let long =
      ''
      ./no.dhall ''${env:NO} ${../no.dhall as Text}
      ''

in  (./parts/good.dhall).ticked + ./parts/goood.dhall + ./parts/good.dhall.ticked
