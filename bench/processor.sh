# SPDX-License-Identifier: MIT
# processor: a line that says on what processor a table was made. What counting costs depends on it.
processor()
{
	awk -F ': *' '
		/^vendor_id/ && !vendor { vendor = $2 }
		/^cpu family/ && !family { family = $2 }
		/^model[\t ]*:/ && model == "" { model = $2 }
		/^model name/ && !name { name = $2 }
		END { printf "processor: %s (%s, family %s, model %s)\n", name, vendor, family, model }' /proc/cpuinfo
}
