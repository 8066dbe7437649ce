-- Expressions: measures, predicates, computed instants. Dhall has no recursive types, so an expression is a list of
-- tokens in postfix order; authors use the constructors below and never see a token.
let U = ./units.dhall

let Token = { op : Text, name : Text, text : Text, number : Text, unit : Text, count : Natural }

let Expression = List Token

let token = { op = "", name = "", text = "", number = "", unit = "", count = 0 }

let Column = { name : Text, type : Text, unit : U.Unit, doc : Text }

let concat =
      \(xs : List Expression) ->
        List/fold Expression xs Expression (\(a : Expression) -> \(b : Expression) -> a # b) ([] : Expression)

let leaf = \(op : Text) -> \(name : Text) -> [ token // { op, name } ] : Expression

let unary = \(op : Text) -> \(a : Expression) -> a # [ token // { op } ] : Expression

let binary = \(op : Text) -> \(a : Expression) -> \(b : Expression) -> a # b # [ token // { op } ] : Expression

let many =
      \(op : Text) ->
      \(xs : List Expression) ->
        concat xs # [ token // { op, count = List/length Expression xs } ] : Expression

in  { Token
    , Expression
    , Column
      -- no condition, no value
    , nothing = [] : Expression
      -- literals
    , integer = \(n : Integer) -> [ token // { op = "integer", number = Integer/show n } ] : Expression
    , natural = \(n : Natural) -> [ token // { op = "integer", number = Natural/show n } ] : Expression
    , real = \(x : Double) -> [ token // { op = "real", number = Double/show x } ] : Expression
    , text = \(t : Text) -> [ token // { op = "text", text = t } ] : Expression
    , yes = [ token // { op = "boolean", text = "true" } ] : Expression
    , no = [ token // { op = "boolean", text = "false" } ] : Expression
      -- a number with its unit: `quantity 0.01 unit.second`
    , quantity =
        \(x : Double) -> \(u : U.Unit) -> [ token // { op = "quantity", number = Double/show x, unit = u.name } ] : Expression
      -- a column of the grain
    , column = \(c : Column) -> leaf "column" c.name
      -- arithmetic; `over` is the real quotient, `div` that of whole numbers (truncated toward zero), both missing if
      -- the divisor is zero; `floor` rounds down
    , plus = binary "plus"
    , minus = binary "minus"
    , times = binary "times"
    , over = binary "over"
    , div = binary "div"
    , floor = unary "floor"
      -- the greater of two values, or the only one that is present
    , greatest = \(a : Expression) -> \(b : Expression) -> many "greatest" [ a, b ]
      -- conversion of a whole number to a unit, truncated to a whole number of it
    , whole = \(u : U.Unit) -> \(a : Expression) -> a # [ token // { op = "whole", unit = u.name } ] : Expression
      -- declares the number to be in another unit, without a conversion; visible in the definition
    , asUnit = \(u : U.Unit) -> \(a : Expression) -> a # [ token // { op = "as_unit", unit = u.name } ] : Expression
      -- the number that a text is, in a unit, such as the upper bound `le` of a bucket; `+Inf` is infinite, other texts are
      -- no value
    , bound = \(u : U.Unit) -> \(a : Expression) -> a # [ token // { op = "bound", unit = u.name } ] : Expression
      -- comparisons; they fail if an operand is missing
    , atLeast = binary "at_least"
    , atMost = binary "at_most"
    , above = binary "above"
    , below = binary "below"
    , equals = binary "equals"
      -- the whole text matches a pattern (a regular expression in RE2 syntax, as for Prometheus's `=~`)
    , matches =
        \(e : Expression) -> \(pattern : Text) ->
          e # [ token // { op = "text", text = pattern } ] # [ token // { op = "matches" } ] : Expression
      -- logic
    , all = many "and"
    , any = many "or"
    , not = unary "not"
      -- 1 if a condition holds, 0 if it does not; missing if it is missing
    , oneIf = unary "one_if"
      -- a value where a condition holds; missing elsewhere
    , when = \(condition : Expression) -> \(value : Expression) -> binary "when" value condition
      -- presence: whether a value is missing, and the first of several that is present
    , present = unary "present"
    , absent = unary "absent"
    , orElse = \(a : Expression) -> \(b : Expression) -> many "coalesce" [ a, b ]
    , firstPresent = many "coalesce"
    , concat
    , leaf
    , many
    , token
    }
