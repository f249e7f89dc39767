import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readDnp3Points } from '../../../src/contract/dnp3-points.ts';
import { SimError } from '../../../src/core/errors.ts';
import { readPointRows } from '../../../src/dnp3/profile/table/rows.ts';

const file = (points: unknown) => readDnp3Points(JSON.stringify({ points }));

describe('point maps in files', () => {
  it('are rows with defaults', () => {
    expect(file([{ type: 'AI', index: 5, name: 'Active power', bind: '701.W' }])).to.deep.equal([
      { type: 'AI', index: 5, name: 'Active power', class: 0, bind: '701.W' },
    ]);
  });

  for (const [what, points, reason] of [
    ['another member', [{ type: 'AI', index: 5, name: 'x', colour: 1 }], /points\.0\.colour: is not a member here/],
    ['an index beyond 16 bits', [{ type: 'AI', index: 65_536, name: 'x' }], /points\.0\.index/],
    ['a point twice', [1, 2].map(() => ({ type: 'AI', index: 5, name: 'x' })), /AI5 occurs twice/],
    ['a strange binding', [{ type: 'AI', index: 5, name: 'x', bind: 'W' }], /points\.0\.bind: must be a point/],
    ['no points', [], /^points: must have at least 1 item/],
    [
      'a range that has no value',
      [{ type: 'AO', index: 5, name: 'x', min: 2, max: 1 }],
      /points\.0: min 2 is above max 1/,
    ],
    ['a mirror that is missing', [{ type: 'AO', index: 5, name: 'x', read_back: 'AI5' }], /the file has no point AI5/],
    [
      'a mirror of another kind',
      [
        { type: 'AO', index: 5, name: 'x', read_back: 'BI5' },
        { type: 'BI', index: 5, name: 'x' },
      ],
      /BI5 is no input that can mirror AO5/,
    ],
    ['several mistakes', Array.from({ length: 9 }, (_, index) => ({ type: 'XX', index, name: 'x' })), /; and 4 more$/],
  ] as const)
    it(`are refused with ${what}`, () => {
      expect(file(points)).to.match(reason);
    });

  it('are refused where they are no JSON, with the place', () => {
    expect(readDnp3Points('{\n  "points": [{ "type": "AI" "index": 5 }]\n}')).to.equal(
      'is no JSON: at line 2, column 29 there is "\\"", where a comma or } must stand',
    );
  });

  describe('with bindings', () => {
    const directory = mkdtempSync(join(tmpdir(), 'points-'));
    const path = join(directory, 'map.json');
    after(() => rmSync(directory, { recursive: true }));
    const rowsOf = (points: readonly object[]) => {
      writeFileSync(path, JSON.stringify({ points: points.map((row) => ({ name: 'x', index: 1, ...row })) }));
      return readPointRows(path);
    };

    it('are rows of the table', () => {
      expect(
        rowsOf([
          { type: 'AO', multiplier: 0.1, min: 0, max: 1000, unit: '%', read_back: 'AI1', bind: '705.Crv.VRef' },
          { type: 'AI' },
        ]).slice(0, 1),
      ).to.deep.equal([
        {
          type: 'AO',
          index: 1,
          name: 'x',
          class: 0,
          min: 0,
          max: 1000,
          multiplier: 0.1,
          unit: '%',
          readBack: 'AI1',
          bind: '705.Crv.VRef',
        },
      ]);
    });

    for (const [what, row, detail] of [
      ['a point of no model', { type: 'AI', bind: '701.Watts' }, 'no model of SunSpec has a point 701.Watts'],
      ['a model that nothing has', { type: 'AI', bind: '799.W' }, 'no model of SunSpec has a point 799.W'],
      ['a point that the map does not have', { type: 'AI', bind: 'AI20000' }, 'the built-in map has no point AI20000'],
      ['an output of another type', { type: 'AO', bind: 'BO5' }, 'BO5 is not of the type AO'],
      ['an output that would be an input', { type: 'BO', bind: 'BI23' }, 'BI23 is not of the type BO'],
    ] as const)
      it(`are refused with ${what}`, () => {
        expect(() => rowsOf([row]))
          .to.throw(SimError, path)
          .with.deep.property('issues', [{ name: 'points.0.bind', detail }]);
      });

    it('are refused when they are no longer what they were at the check', () => {
      writeFileSync(path, '[]');
      expect(() => readPointRows(path))
        .to.throw(SimError)
        .with.property('code', 'CONFIG_INVALID');
    });
  });
});
