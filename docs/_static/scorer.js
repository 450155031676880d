// Search: a page whose title holds every word of the query comes before pages that merely use the words.
// `var`: searchtools.js declares the name again.
var Scorer = {
  score: ([docname, title, anchor, description, score]) => {
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const words = query.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word);
    const named = words.length > 0 && words.every((word) => title.toLowerCase().includes(word));
    return score + (named ? 20 : 0) + (docname.startsWith("families/") ? 1 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
