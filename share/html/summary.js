// SPDX-License-Identifier: MIT
// The first page: totals, the hottest parts, and what is not known.
"use strict";

chord.views.push({name: "", title: "Summary", open: () => {
	const {h, number} = chord, s = chord.summary;

	function figure(n, name) {
		return h("div", {class: "figure"}, h("b", {}, number(n)), h("span", {}, name));
	}

	// The hottest rows of a list, as bars.
	function hottest(title, rows, link, more) {
		const top = rows.slice().sort((a, b) => chord.value(b.insns) - chord.value(a.insns)).slice(0, 12)
			.filter(row => chord.value(row.insns) > 0);
		if (!top.length)
			return null;
		return h("section", {class: "panel"}, h("h2", {}, title),
			h("ol", {class: "bars"}, top.map(row => h("li", {},
				h("span", {class: "name"}, link(row)),
				h("span", {class: "number"}, number(row.insns)),
				h("span", {class: "share"}, chord.share(row.insns, s.totals.instructions)),
				bar(chord.value(row.insns) / chord.value(s.totals.instructions), chord.heat(row.insns, s.totals.instructions))))),
			h("p", {class: "more"}, chord.link(more, "all of them")));
	}

	function bar(share, heat) {
		const inner = h("i", {heat});
		inner.style.width = (100 * Math.min(1, share)).toFixed(2) + "%";
		return h("span", {class: "bar", "aria-hidden": "true"}, inner);
	}

	function notes(title, rows, text) {
		return rows.length ? h("details", {class: "panel", open: rows.length < 6},
			h("summary", {}, title + " (" + number(rows.length) + ")"),
			h("ul", {}, rows.slice(0, 1000).map(row => h("li", {}, text(row))),
				rows.length > 1000 ? h("li", {}, "and " + number(rows.length - 1000) + " more") : null)) : null;
	}

	const named = ([name, why]) => chord.clean(name + ": " + why);
	return {node: h("div", {class: "summary"},
		h("h1", {}, chord.clean(s.program)),
		h("p", {class: "dim"}, "build " + s.build.slice(0, 16) + " · " + number(s.profiles.length) +
			(s.profiles.length === 1 ? " profile" : " profiles")),
		h("div", {class: "figures"},
			figure(s.totals.instructions, "instructions executed"), figure(s.totals.blocks, "blocks entered"),
			figure(s.totals.edges, "edges from block to block"), figure(s.totals.calls, "calls"),
			figure(s.totals.procedures, "functions"), s.events.map(([name, n, without]) => figure(n, "event " + name +
			(without ? ", not counted in " + number(without) + " functions" : "")))),
		s.hasLines ? null : h("p", {class: "note"}, "No object has line numbers: build with -g to see source."),
		s.differs ? h("p", {class: "note"}, chord.link("#/difference", "What changed"), " against the run before.") : null,
		h("div", {class: "columns"},
			hottest("Functions", chord.functions, row => chord.functionLink(row.id), "#/functions"),
			hottest("Lines", chord.objects(s.lines, ["file", "line", "insns", "text"]), row => h("span", {}, chord.fileLink(row.file, row.line), " ",
				h("span", {class: "dim"}, chord.clean(row.text.trim()))), "#/lines"),
			hottest("Files", chord.files, row => chord.fileLink(row.id), "#/files")),
		notes("Not measured: libraries", s.unmeasured.libraries, row => chord.clean(row)),
		notes("Not measured: functions", s.unmeasured.names, row => chord.clean(row)),
		notes("Refused", s.refused, named), notes("Not known", s.unknown, named),
		notes("Notes", s.notes, row => chord.clean(row)),
		notes("Profiles left out", s.leftOut, named), notes("Profiles", s.profiles, row => chord.clean(row)))};
}});
