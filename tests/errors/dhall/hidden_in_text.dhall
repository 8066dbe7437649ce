{ a = "${ = " } // { b = /etc/passwd as Text, c = " }" }
