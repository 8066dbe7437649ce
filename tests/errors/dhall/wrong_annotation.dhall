let label : Text = 5

in  label
