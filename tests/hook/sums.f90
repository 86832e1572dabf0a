! SPDX-License-Identifier: MIT
subroutine work(n, s)
  integer, intent(in) :: n
  integer, intent(inout) :: s
  integer :: i
  do i = 1, 100
    s = ieor(s, i * n)
  end do
end subroutine

program sums
  integer :: i, s
  s = 0
  do i = 1, 10
    call work(i, s)
  end do
  print *, s
end program
