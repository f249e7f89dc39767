/** The change log: the section of the coming release, and the headings that close it. */

const openHeading = /^## (?:Unreleased|\S+ \(unreleased\))$/m;

/** Text below the heading of the coming release; null without such a heading. */
export function openSection(text) {
  const heading = openHeading.exec(text);
  if (heading === null) return null;
  return text
    .slice(heading.index + heading[0].length)
    .split(/^## /m)[0]
    .trim();
}

/** The change log with the open section as that of a version. @param date as 2026-12-02 */
export function closed(text, version, date) {
  return text.replace(openHeading, `## ${version} (${date})`);
}

/** Whether a version comes behind another: three numbers, compared from the left. */
export function isNewer(version, other) {
  const [a, b] = [version, other].map((each) => each.replace(/^v/, '').split('.').map(Number));
  const at = a.findIndex((part, i) => part !== b[i]);
  return at !== -1 && a[at] > b[at];
}
