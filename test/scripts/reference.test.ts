import { expect } from 'chai';
import { z } from 'zod';
import { inputSchema, membersBelow, membersOf, memberTable } from '../../scripts/docs/schema-table.ts';
import { referencePages } from '../../scripts/generate-reference.ts';
import { differences } from '../../scripts/generated.ts';

describe('generated reference', () => {
  it('pages are up to date (npm run generate:reference)', () => {
    expect(differences(referencePages())).to.deep.equal([]);
  });

  it('a table has each member below a schema once, with its type, range, meaning and example', () => {
    const limit = z.union([z.number().min(1).max(9), z.null()]).meta({ description: 'a|b', examples: [2] });
    const schema = z.object({
      limit,
      list: z.array(z.object({ word: z.enum(['x', 'y']) })).optional(),
      names: z.record(z.string(), z.object({ on: z.boolean() })).optional(),
    });
    expect(memberTable(membersOf(inputSchema(schema))).slice(2)).to.deep.equal([
      '| `limit` | number or null, required | from 1 to 9 | a\\|b | `2` |',
      '| `list` | list of object |  |  |  |',
      '| `list[].word` | word, required | `x`, `y` |  |  |',
      '| `names` | object of object |  |  |  |',
      '| `names.NAME.on` | boolean, required |  |  |  |',
    ]);
    const forms = z.union([z.object({ a: z.string() }), z.object({ a: z.string(), b: z.int().optional() })]);
    expect(membersBelow(inputSchema(forms)).map(([path]) => path)).to.deep.equal(['`a`', '`b`']);
  });
});
