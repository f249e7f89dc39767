import { expect } from 'chai';
import fc from 'fast-check';
import { moduleNames } from '../../../src/core/adapter.ts';
import type { ModuleName } from '../../../src/core/adapter.ts';
import { LogBuffer, logCapacity, logLevels } from '../../../src/core/log/log.ts';
import type { LogEntry, LogFilter } from '../../../src/core/log/log.ts';
import { holds } from '../../support/property.ts';

function entry(id: number, fields: Partial<LogEntry> = {}): LogEntry {
  return {
    id,
    timeMs: id * 10,
    simMs: null,
    level: 'info',
    module: 'AC',
    deviceIndex: null,
    message: `line ${id}`,
    ...fields,
  };
}

function filled(entries: Iterable<LogEntry>): LogBuffer {
  const buffer = new LogBuffer();
  for (const each of entries) buffer.push(each);
  return buffer;
}

const ids = (entries: readonly LogEntry[]) => entries.map(({ id }) => id);

/** What the filter says, word by word. */
function expected(entries: readonly LogEntry[], filter: LogFilter): readonly LogEntry[] {
  const { modules, levels, deviceIndex, afterId = 0, sinceMs = 0, limit = logCapacity } = filter;
  return entries
    .filter(
      (each) =>
        (!modules || modules.includes(each.module)) &&
        (!levels || levels.includes(each.level)) &&
        (deviceIndex === undefined || each.deviceIndex === deviceIndex) &&
        each.id > afterId &&
        each.timeMs >= sinceMs,
    )
    .slice(-limit);
}

const entriesArbitrary = fc
  .array(
    fc.record({
      module: fc.constantFrom(...moduleNames),
      level: fc.constantFrom(...logLevels),
      deviceIndex: fc.constantFrom(null, 0, 1, 2),
      timeMs: fc.integer({ min: 0, max: 1000 }),
    }),
    { maxLength: 200 },
  )
  .map((all) => all.map((fields, i) => entry(i + 1, fields)));

const filterArbitrary: fc.Arbitrary<LogFilter> = fc.record(
  {
    modules: fc.subarray([...moduleNames]),
    levels: fc.subarray([...logLevels]),
    deviceIndex: fc.integer({ min: 0, max: 3 }),
    afterId: fc.integer({ min: 0, max: 220 }),
    sinceMs: fc.integer({ min: 0, max: 1000 }),
    limit: fc.integer({ min: 1, max: 220 }),
  },
  { requiredKeys: [] },
);

describe('LogBuffer', () => {
  it('filters as a plain list would', () => {
    holds(
      'a plain list with a filter',
      [entriesArbitrary, filterArbitrary],
      (entries, filter) => {
        expect(filled(entries).list(filter)).to.deep.equal(expected(entries, filter));
      },
      { runs: 500 },
    );
  });

  it('keeps of each module what all modules together leave it', () => {
    const modulesArbitrary = fc.array(fc.tuple(fc.constantFrom(...moduleNames), fc.integer({ min: 1, max: 3000 })), {
      minLength: 1,
      maxLength: 10,
    });
    holds(
      'modules leave each other room',
      modulesArbitrary,
      (runs) => {
        const entries = runs
          .flatMap(([module, times]) => Array.from({ length: times }, () => module))
          .map((module, i) => entry(i + 1, { module }));
        const buffer = filled(entries);
        const kept = buffer.list();
        expect(kept).to.have.lengthOf(Math.min(entries.length, logCapacity));
        expect(buffer.dropped).to.equal(entries.length - kept.length);
        expect(
          kept.every(({ id }, i) => i === 0 || id > (kept[i - 1]?.id ?? 0)),
          'rising',
        ).to.equal(true);
        for (const module of buffer.modules) {
          const said = entries.filter((each) => each.module === module);
          const left = kept.filter((each) => each.module === module);
          expect(left, 'its last ones').to.deep.equal(said.slice(said.length - left.length));
          expect(left.length).to.be.at.least(Math.min(said.length, Math.floor(logCapacity / buffer.modules.length)));
        }
      },
      { runs: 40 },
    );
  });

  it('drops the oldest line where two modules have equally many', () => {
    const half = logCapacity / 2;
    const turns = ([first, second]: readonly [ModuleName, ModuleName]) =>
      Array.from({ length: logCapacity }, (_, i) => entry(i + 1, { module: i < half ? first : second }));
    const later = entry(logCapacity + 1, { module: 'WS' });
    for (const pair of [
      ['AC', 'DC'],
      ['DC', 'AC'],
    ] as const) {
      const buffer = filled([...turns(pair), later]);
      expect([buffer.list()[0]?.id, buffer.list().at(-1)?.id]).to.deep.equal([2, later.id]);
    }
  });

  it('gives who asks again and again only what is new', () => {
    const buffer = new LogBuffer();
    let seen = 0;
    const got: number[] = [];
    for (let id = 1; id <= 12_000; id += 1) {
      buffer.push(entry(id, { module: id % 3 === 0 ? 'WS' : 'Modbus' }));
      if (id % 100 !== 0) continue;
      const fresh = ids(buffer.list({ afterId: seen }));
      got.push(...fresh);
      seen = fresh.at(-1) ?? seen;
    }
    expect(got).to.deep.equal(Array.from({ length: 12_000 }, (_, i) => i + 1));
    expect(buffer.list({ afterId: seen })).to.deep.equal([]);
  });

  it('names the modules that have spoken in a fixed order', () => {
    expect(
      filled([entry(1, { module: 'WS' }), entry(2, { module: 'AC' }), entry(3, { module: 'WS' })]).modules,
    ).to.deep.equal(['AC', 'WS']);
    expect(new LogBuffer().modules).to.deep.equal([]);
  });
});
