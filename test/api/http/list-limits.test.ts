import { expect } from 'chai';
import { z } from '../../../src/api/description/zod.ts';
import { longLists, maxItems, validate } from '../../../src/api/http/validate.ts';
import { HttpProblem } from '../../../src/api/http/errors.ts';
import { allRoutes } from '../../../src/api/routes.ts';

/** All lists that a schema has, by their paths. */
function listsOf(schema: z.core.$ZodType, at: string, seen = new Set<unknown>()): [string, number][] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const { def } = schema._zod as unknown as { readonly def: Readonly<Record<string, unknown>> };
  const own: [string, number][] = schema instanceof z.ZodArray ? [[at, maxItems(schema)]] : [];
  const children = Object.entries(def).flatMap(([name, value]): [string, unknown][] =>
    name === 'shape' || name === 'options' ? Object.entries(value as object) : [[name, value]],
  );
  return [
    ...own,
    ...children.flatMap(([name, child]) =>
      typeof child === 'object' && child !== null && '_zod' in child
        ? listsOf(child as z.core.$ZodType, `${at}/${name}`, seen)
        : [],
    ),
  ];
}

function refusal(schema: z.ZodType, input: unknown): HttpProblem {
  try {
    validate(schema, input, 'body');
  } catch (error) {
    if (error instanceof HttpProblem) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('lists of requests', () => {
  it('have a maximum, in every operation', () => {
    const lists = allRoutes.flatMap(({ body, operationId }) => (body ? listsOf(body, operationId) : []));
    expect(lists.length).to.be.greaterThan(20);
    expect(lists.filter(([, max]) => max === Infinity).map(([at]) => at)).to.deep.equal([]);
  });

  it('that are too long are found wherever they may be, before any of their items is looked at', () => {
    let looked = 0;
    const item = z.strictObject({ inner: z.array(z.int()).max(2).optional() }).refine(() => (looked += 1) > 0);
    const few = z.array(item).max(3);
    const schema = z.strictObject({
      list: few.nullable().optional(),
      either: z.union([z.string(), z.array(z.int()).max(1), z.array(z.string()).max(4)]).optional(),
      named: z.record(z.string(), z.array(z.int()).max(2)).optional(),
    });
    const five = Array.from({ length: 5 }, () => ({}));
    expect(longLists(schema, { list: five, either: five, named: { 'a/b': [1, 2, 3], c: [1] } })).to.deep.equal([
      { name: '/list', maxItems: 3 },
      { name: '/either', maxItems: 4 },
      { name: '/named/a~1b', maxItems: 2 },
    ]);
    expect(longLists(schema, { list: [{ inner: [1, 2, 3] }] })).to.deep.equal([{ name: '/list/0/inner', maxItems: 2 }]);
    expect(longLists(schema, { list: 'text', either: [1], unknown: five })).to.deep.equal([]);
    const { issues } = refusal(schema, { list: five, wrong: 1 });
    expect(issues).to.deep.equal([{ in: 'body', name: '/list', detail: 'must have at most 3 items' }]);
    expect(looked).to.equal(0);
  });

  it('issues are put into words only as far as they are listed, and all are counted', () => {
    let words = 0;
    const wrong = z.unknown().refine(() => false, {
      error: () => {
        words += 1;
        return 'is wrong';
      },
    });
    const many = refusal(
      z.array(wrong).max(500),
      Array.from({ length: 500 }, () => 1),
    );
    expect(many.issues).to.have.length(100);
    expect(many.message).to.match(/^\/0: is wrong; .*; \/4: is wrong; and 495 more$/);
    expect(words, 'one for each issue of zod').to.equal(500);

    const unknown = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`m${i}`, 1]));
    const strange = refusal(z.strictObject({ known: z.int() }), { known: 'x', ...unknown });
    expect(strange.issues).to.have.length(100);
    expect(strange.message).to.match(/; and 2996 more$/);
  });
});
