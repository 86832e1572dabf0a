--  SPDX-License-Identifier: MIT
--  A handler of Ada's library makes exceptions of 750 null pointers.
with Ada.Command_Line; use Ada.Command_Line;
procedure Faults is
   type Pointer is access Integer;
   All_Of : array (0 .. 3) of Pointer := (others => null);
   N : Integer := 0;

   function Get (P : Pointer) return Integer is
   begin
      return P.all;
   end Get;
   pragma No_Inline (Get);
begin
   All_Of (Argument_Count + 1) := new Integer'(5);
   for I in 1 .. 1000 loop
      begin
         N := N + Get (All_Of (I mod 4));
      exception
         when others => N := N + 1;
      end;
   end loop;
   if N /= 2000 then
      raise Program_Error;
   end if;
end Faults;
