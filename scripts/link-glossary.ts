/** Links the first use of each term of the glossary in doors, tutorials and concepts: `npm run generate:glossary`. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { linked, linkedTerms, unlinkedUses } from './docs/glossary.ts';

const docs = new URL('../docs/', import.meta.url);
const terms = linkedTerms(readFileSync(new URL('glossary.md', docs), 'utf8'));

for (const folder of ['doors', 'tutorials', 'concepts'])
  for (const name of readdirSync(new URL(folder, docs))) {
    const file = new URL(`${folder}/${name}`, docs);
    const page = readFileSync(file, 'utf8');
    const uses = unlinkedUses(page, terms);
    if (uses.length > 0) writeFileSync(file, linked(page, uses, '../glossary.md'));
  }
