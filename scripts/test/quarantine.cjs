/** Tests that fail now and then and are being repaired: they run, and their failures are shown and not counted. */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '../..');
const maxEntries = 10;
const maxDays = 14;
const dayMs = 86_400_000;

/** `{ file, title, date, issue, owner }`: path from the root, full title, ISO date of the entry. */
function quarantine() {
  return JSON.parse(readFileSync(join(root, 'test/quarantine.json'), 'utf8'));
}

/** Breaches of the rules, one text each. @param nowMs ms since the epoch */
function quarantineFaults(entries, nowMs) {
  const tooMany = entries.length > maxEntries ? [`${entries.length} entries, more than ${maxEntries}`] : [];
  const ofEntry = (entry) => {
    const name = `${entry.file}: ${entry.title}`;
    const missing = ['file', 'title', 'date', 'issue', 'owner'].filter((key) => !entry[key]);
    const days = Math.floor((nowMs - Date.parse(entry.date)) / dayMs);
    return [
      ...missing.map((key) => `${name} has no ${key}`),
      ...(days >= 0 && days <= maxDays ? [] : [`${name} is there since ${entry.date}: repair or delete it`]),
    ];
  };
  return [...tooMany, ...entries.flatMap(ofEntry)];
}

module.exports = { quarantine, quarantineFaults };
