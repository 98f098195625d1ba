/* The scores of Sphinx's search. A name that equals the query is an entry of the index with a score of 100: it comes
   first, with its page. Other entries have no text of their own: they come last. A var, as in searchtools.js. */
var Scorer = {
  score: (result) => {
    const [, title, , , score, , kind] = result;
    if (kind !== "index") return score;
    if (score < 100) return 0;
    result[1] = `${title} > ${new URLSearchParams(location.search).get("q") ?? ""}`;
    return score;
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
