import { expect } from 'chai';
import { z } from 'zod';
import { factsOf, pointerIssues, withInput } from '../../src/core/zod-issues.ts';

function words(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value, withInput);
  return (error?.issues ?? [])
    .flatMap((issue) => pointerIssues(issue, 'a member of it', factsOf(schema)))
    .map(({ name, detail }) => `${name}: ${detail}`);
}

describe('issues of zod in words', () => {
  const points = z.strictObject({ model: z.int(), names: z.array(z.string()).optional() });
  const registers = z.strictObject({ address: z.int(), count: z.int().min(1) });
  const either = z.union([points, registers]);

  it('a union of simple values says what each of them takes', () => {
    const value = z.strictObject({
      value: z.union([z.number(), z.string(), z.literal(true), z.enum(['low', 'high'])]),
    });
    expect(words(value, { value: [] })).to.deep.equal(['/value: must be a number, a string, true, low or high']);
    expect(words(z.union([z.literal(1), z.literal(2)]), 3)).to.deep.equal([': must be 1 or 2']);
    // one that takes the value but for its range speaks for itself
    expect(words(z.union([z.int().max(5), z.string()]), 6)).to.deep.equal([': must be at most 5; given 6']);
  });

  it('a union of objects says by which members they are known', () => {
    expect(words(either, {})).to.deep.equal([': must be an object with model or an object with address and count']);
    expect(words(either, { model: 1, address: 1, count: 1 })).to.deep.equal([
      ': must be an object without address and count or an object without model',
    ]);
    expect(words(either, { model: 'x', count: 0 })).to.deep.equal([
      ': must be an object without count whose model must be a number or an object with address without ' +
        'model whose count must be at least 1',
    ]);
  });

  it('a union of objects alone asks for an object first, whatever it says of members', () => {
    const told = z.union(
      [
        points,
        registers,
        z.discriminatedUnion('kind', [
          z.strictObject({ kind: z.literal('a') }),
          z.strictObject({ kind: z.literal('b') }),
        ]),
      ],
      { error: 'one of model, address, kind is required' },
    );
    for (const value of [[], 5, 'x', null]) expect(words(told, value)).to.deep.equal([': must be an object']);
    expect(words(told, {})).to.deep.equal([': one of model, address, kind is required']);
    expect(words(z.union([points, z.literal('all')], { error: 'must be points, or all' }), 5)).to.deep.equal([
      ': must be points, or all',
    ]);
  });

  it('a word that is missing is required, one that is wrong must be another', () => {
    const word = z.strictObject({ word: z.enum(['a', 'b']) });
    expect(words(word, {})).to.deep.equal(['/word: is required']);
    expect(words(word, { word: null })).to.deep.equal(['/word: must be one of a, b; given null']);
  });

  it('a refused value stands beside the whole range, wherever in the body it is', () => {
    const curve = z.strictObject({ points: z.array(z.strictObject({ v_pct: z.number().min(0).max(200) })).optional() });
    expect(words(curve, { points: [{ v_pct: 1 }, { v_pct: 201 }] })).to.deep.equal([
      '/points/1/v_pct: must be from 0 to 200; given 201',
    ]);
    const share = z.strictObject({ share: z.number().gt(0).max(1).nullable(), text: z.string().max(3) });
    expect(words(share, { share: 0, text: 'abcd' })).to.deep.equal([
      '/share: must be more than 0 and at most 1; given 0',
      '/text: must have at most 3 characters; given 4',
    ]);
    expect(words(share, { share: 'x'.repeat(1000), text: {} })).to.deep.equal([
      `/share: must be a number; given "${'x'.repeat(59)}…"`,
      '/text: must be a string; given an object',
    ]);
  });

  it('an unknown member and a wrong word name the nearest known one', () => {
    const setPoint = z.strictObject({
      set: z.strictObject({ setpoint_kw: z.number().optional(), mode: z.enum(['watts', 'w_max_pct']).optional() }),
    });
    expect(words(setPoint, { set: { setpiont_kw: 1, colour: 1, mode: 'wats' } })).to.deep.equal([
      '/set/mode: must be one of watts, w_max_pct; given "wats"; did you mean watts?',
      '/set/setpiont_kw: is not a member of it; did you mean setpoint_kw?',
      '/set/colour: is not a member of it',
    ]);
  });
});
