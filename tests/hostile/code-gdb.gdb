set pagination off
set confirm off
set disable-randomization off
set width 0
set print address off
break add
break many
break rec if n == 3
break loop
break align
break main
run >/dev/null
info args
bt
continue
info args
bt
finish
continue
info args
bt
finish
continue
info args
bt
finish
continue
info args
bt
finish
continue
info args
bt
finish
delete
continue
quit
