# SPDX-License-Identifier: MIT
# processor: prints a line that names the processor on which a table was made. The cost of counting depends on the processor.
processor()
{
	awk -F ': *' '
		/^vendor_id/ && !vendor { vendor = $2 }
		/^cpu family/ && !family { family = $2 }
		/^model[\t ]*:/ && model == "" { model = $2 }
		/^model name/ && !name { name = $2 }
		END { printf "processor: %s (%s, family %s, model %s)\n", name, vendor, family, model }' /proc/cpuinfo
}
