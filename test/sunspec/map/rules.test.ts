import { expect } from 'chai';
import { isFloat, numberCodec, removeScale } from '../../../src/sunspec/map/codec.ts';
import { plainPath } from '../../../src/sunspec/map/layout.ts';
import type { PointSlot } from '../../../src/sunspec/map/layout.ts';
import { ctrlModeMask, requiredMode } from '../../../src/sunspec/map/grid-support/functions.ts';
import { allowedWords, endingWords, onlySymbol, ranges } from '../../../src/sunspec/map/rules.ts';
import type { Bound } from '../../../src/sunspec/map/rules.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { byModbus, byRest, codeOf, createTestBank, errorOf, mapLayout, named, words } from '../../support/map.ts';
import type { TestBank } from '../../support/map.ts';

const layout = mapLayout({ storage: true, simModels: true, classic: true });
const storageBank = () => createTestBank({ storage: true, simModels: true, classic: true });
const plainName = (slot: PointSlot) => `${slot.modelId}.${plainPath(slot.path)}`;
/** The first writable point of a rule: in a curve model that of set 2. */
const slotOfRule = (key: string) => layout.slots.find((slot) => plainName(slot) === key && slot.writable);

const sources = (bound: Bound | undefined) => (typeof bound === 'string' ? [bound.replace(/^-/, '')] : []);

/** Ranges that do not depend on other points, and those that do as they are at the start. */
const fixedRanges = Object.entries(ranges).map(([key, rule]) => {
  const { bank } = storageBank();
  const read = (name: string) => bank.value(named(layout, name));
  return [key, typeof rule === 'function' ? rule(read) : rule] as const;
});

describe('rules: names', () => {
  const names = new Set(layout.slots.map(plainName));

  it('every range is that of a writable number', () => {
    for (const key of Object.keys(ranges)) {
      expect(names, key).to.include(key);
      const slot = slotOfRule(key);
      expect(slot, key).to.not.equal(undefined);
      expect(numberCodec(slot!.def.type), key).to.not.equal(undefined);
      expect(slot!.def.type, key).to.not.match(/^(enum|bitfield)/);
    }
  });

  it('every bound that is a point is a single point with a number', () => {
    for (const [key, { min, max }] of fixedRanges) {
      for (const source of [...sources(min), ...sources(max)]) {
        const value = storageBank().bank.value(named(layout, source));
        expect(value, `${key}: ${source}`).to.be.a('number');
      }
    }
  });

  it('every writable number has a range, but for free counters and times', () => {
    const numbers = layout.slots.filter((slot) => slot.writable && !slot.def.symbols && slot.def.type !== 'string');
    const free = numbers.filter((slot) => ranges[plainName(slot)] === undefined);
    expect([...new Set(free.map(plainName))]).to.deep.equal([
      ...['Conn', 'WMaxLimPct', 'OutPFSet', 'VArPct'].flatMap((name) =>
        ['WinTms', 'RvrtTms', ...(name === 'Conn' ? [] : ['RmpTms'])].map((time) => `123.${name}_${time}`),
      ),
      '124.InOutWRte_WinTms',
      '124.InOutWRte_RvrtTms',
      '124.InOutWRte_RmpTms',
      '704.PFWInjRvrtTms',
      '704.PFWAbsRvrtTms',
      '704.WMaxLimPctRvrtTms',
      '704.WSetRvrtTms',
      '704.VarSetRvrtTms',
      '705.RvrtTms',
      '706.RvrtTms',
      '711.RvrtTms',
      '712.RvrtTms',
      '715.ControllerHb',
    ]);
  });

  it('every writable text has its words, and a word that ends what other points set is one of them', () => {
    const texts = layout.slots.filter((slot) => slot.writable && slot.def.type === 'string').map(pointName);
    expect(texts).to.deep.equal(Object.keys(allowedWords));
    for (const [name, byWord] of Object.entries(endingWords)) {
      for (const [word, paths] of Object.entries(byWord)) {
        expect(allowedWords[name], name).to.include(word);
        for (const path of paths) expect(named(layout, `${name.split('.')[0]!}.${path}`).writable, path).to.equal(true);
      }
    }
  });

  it('every gate is on an enable point, and every enable point of a function has its gate', () => {
    for (const key of Object.keys(requiredMode))
      expect(named(layout, key).def.symbols, key).to.have.all.keys('DISABLED', 'ENABLED');
    const enables = layout.slots.filter((slot) => slot.writable && /Ena$/.test(slot.path) && !slot.path.includes('.'));
    expect(enables.map(pointName).filter((name) => !(name in requiredMode))).to.deep.equal(['704.AntiIslEna']);
  });

  it('a mode is the bit of its number', () => {
    expect([ctrlModeMask('MAX_W'), ctrlModeMask('FIXED_PF'), ctrlModeMask('HF_TRIP')]).to.deep.equal([1, 8, 8192]);
  });
});

function limitOf(test: TestBank, bound: Bound): number {
  if (typeof bound === 'number') return bound;
  const value = test.value(bound.replace(/^-/, '')) as number;
  return bound.startsWith('-') ? -value : value;
}

/** Raw registers of `raw` when the point's type can hold it. */
function rawWords(slot: PointSlot, raw: number): Buffer | null {
  const codec = numberCodec(slot.def.type)!;
  if (raw < codec.min || raw > codec.max) return null;
  if (isFloat(slot.def.type)) {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatBE(raw);
    return bytes;
  }
  return slot.def.size === 1 ? words(raw) : words(Math.floor(raw / 65_536), raw);
}

/** Tries one register value by both roads; they must agree. */
function attempt(slot: PointSlot, raw: number): string | null {
  const value = slot.sf < 0 ? raw / 10 ** -slot.sf : raw * 10 ** slot.sf;
  const [byName, byRegister] = [storageBank(), storageBank()];
  const [before, bytes] = [byName.dump(), rawWords(slot, raw)];
  const code = codeOf(() => {
    byName.bank.assign(byRest, [{ slot, value }]);
  });
  if (bytes) {
    expect(
      codeOf(() => {
        byRegister.bank.write(slot.address, bytes, byModbus);
      }),
      `${raw} by register`,
    ).to.equal(code);
    expect(byRegister.dump().equals(byName.dump()), 'both roads end alike').to.equal(true);
  }
  if (code === null) expect(byName.bank.value(slot)).to.equal(value);
  else expect(byName.dump().equals(before), 'a refused value changes nothing').to.equal(true);
  return code;
}

describe('rules: every range, at its edges', () => {
  for (const [key, { min, max }] of fixedRanges) {
    it(`${key} ${min ?? '-inf'}..${max ?? 'inf'}`, () => {
      const test = storageBank();
      const slot = slotOfRule(key)!;
      // the edges on the point's own grid; a positive lower edge excludes 0 however coarse the grid is
      const step = 10 ** slot.sf;
      if (min !== undefined) {
        const low = limitOf(test, min);
        const edge = Math.max(Math.ceil(low / step - 1e-6), low > 0 ? 1 : -Infinity);
        expect(attempt(slot, edge), 'lowest').to.equal(null);
        expect(attempt(slot, edge - 1), 'below').to.equal('MAP_BAD_VALUE');
      }
      if (max !== undefined) {
        const edge = removeScale(limitOf(test, max), slot.sf);
        expect(attempt(slot, edge), 'highest').to.equal(null);
        expect(attempt(slot, edge + 1), 'above').to.equal('MAP_BAD_VALUE');
      }
      expect(min !== undefined || max !== undefined).to.equal(true);
    });
  }

  it('a positive lower bound keeps out 0 on a grid coarser than the bound', () => {
    const test = createTestBank({ scale: { '702.A_SF': 0, '711.K_SF': -2, '702.W_SF': 2 } });
    for (const name of ['702.AMax', '711.Ctl[1].KOf', '702.WMax']) {
      expect(
        codeOf(() => {
          test.set({ [name]: 0 });
        }),
        name,
      ).to.equal('MAP_BAD_VALUE');
    }
    test.set({ '702.AMax': 1, '711.Ctl[1].KOf': 0.01, '702.WMax': 100 });
    expect(test.value('711.Ctl[1].KOf')).to.equal(0.01);
  });

  it('a bound that lies between two registers reaches the nearer one', () => {
    const test = createTestBank({
      scale: { '704.PF_SF': -2, '702.PF_SF': -3 },
      start: (map) => {
        map.m702.PFOvrExtRtg = 0.804;
      },
    });
    expect(
      codeOf(() => {
        test.set({ '704.PFWInj.PF': 0.8 });
      }),
    ).to.equal(null);
    expect(
      codeOf(() => {
        test.set({ '704.PFWInj.PF': 0.79 });
      }),
    ).to.equal('MAP_BAD_VALUE');
  });

  it('a bound follows the setting that it refers to', () => {
    const test = storageBank();
    expect(
      codeOf(() => {
        test.set({ '704.WSet': 60_001 });
      }),
    ).to.equal(null);
    test.set({ '702.WMax': 60_000, '702.WChaRteMax': 50_000 });
    expect(
      codeOf(() => {
        test.set({ '704.WSet': 60_001 });
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(
      codeOf(() => {
        test.set({ '704.WSet': -50_001 });
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(
      codeOf(() => {
        test.set({ '704.WSet': -50_000 });
      }),
    ).to.equal(null);
    // in one transaction the new setting counts
    expect(
      codeOf(() => {
        test.set({ '704.WSet': 70_000, '702.WMax': 70_000 });
      }),
    ).to.equal(null);
  });

  it('a device that cannot charge takes no negative set-point; a missing rating is no bound above', () => {
    const test = createTestBank({ omit: ['702.WChaRteMaxRtg', '702.WChaRteMax', '702.AMaxRtg'] });
    expect(
      codeOf(() => {
        test.set({ '704.WSet': -1 });
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(
      codeOf(() => {
        test.set({ '704.WSet': 0 });
      }),
    ).to.equal(null);
    expect(
      codeOf(() => {
        test.set({ '702.AMax': 600 });
      }),
    ).to.equal(null);
  });
});

describe('rules: enumerations and bit fields', () => {
  const enums = layout.slots.filter((slot) => slot.writable && slot.def.symbols && slot.def.type.startsWith('enum'));

  it('take each of their values and no other number', () => {
    const kinds = new Map(enums.map((slot) => [plainName(slot), slot]));
    expect(kinds.size).to.be.greaterThan(30);
    for (const [name, slot] of kinds) {
      const symbols = slot.def.symbols ?? {};
      const values = Object.values(symbols);
      const only = onlySymbol[name]?.symbol;
      const takes = (raw: number) => only === undefined || symbols[only] === raw;
      for (const raw of values)
        expect(
          codeOf(() => {
            storageBank().bank.write(slot.address, words(raw), byModbus);
          }),
          `${name} ${raw}`,
        ).to.equal(takes(raw) ? null : 'MAP_NOT_SUPPORTED');
      for (const raw of [Math.max(...values) + 1, 0xfffe, 0xffff]) {
        expect(
          codeOf(() => {
            storageBank().bank.write(slot.address, words(raw), byModbus);
          }),
          `${name} ${raw}`,
        ).to.equal('MAP_BAD_VALUE');
      }
    }
  });

  it('only bits that are defined can be set', () => {
    const test = storageBank();
    const { address } = test.slot(702, 'IntIslandCat');
    for (const raw of [0, 1, 0b1111])
      expect(
        codeOf(() => {
          test.bank.write(address, words(raw), byModbus);
        }),
        String(raw),
      ).to.equal(null);
    for (const raw of [0b10000, 0x8000, 0x8001, 0xffff]) {
      expect(
        codeOf(() => {
          test.bank.write(address, words(raw), byModbus);
        }),
        String(raw),
      ).to.equal('MAP_BAD_VALUE');
    }
  });
});

describe('rules: words', () => {
  for (const [name, allowed] of Object.entries(allowedWords)) {
    it(`${name} takes ${allowed.join(', ')} and no other text`, () => {
      for (const word of allowed) {
        const test = storageBank();
        test.set({ [name]: word });
        expect(test.value(name)).to.equal(word);
      }
      for (const text of ['', 'CONST', 'const ', 'manual', 'constant']) {
        const test = storageBank();
        const before = test.dump();
        const error = errorOf(() => {
          test.set({ [name]: text });
        });
        expect([error.code, error.issues[0]?.allowed], JSON.stringify(text)).to.deep.equal(['MAP_BAD_VALUE', allowed]);
        const bytes = Buffer.alloc(64);
        bytes.write(text);
        expect(
          codeOf(() => {
            test.bank.write(named(layout, name).address, bytes, byModbus);
          }),
        ).to.equal('MAP_BAD_VALUE');
        expect(test.dump().equals(before)).to.equal(true);
      }
    });
  }

  it('a word that ends what another point sets is refused beside that point, in any order', () => {
    for (const [name, byWord] of Object.entries(endingWords)) {
      for (const [word, paths] of Object.entries(byWord)) {
        for (const other of paths.map((path) => `${name.split('.')[0]!}.${path}`)) {
          const test = storageBank();
          const value = other.endsWith('Frequency') ? 50 : 1;
          const before = test.dump();
          expect(
            codeOf(() => {
              test.set({ [name]: word, [other]: value });
            }),
            `${word} before ${other}`,
          ).to.equal('MAP_BAD_VALUE');
          expect(
            codeOf(() => {
              test.set({ [other]: value, [name]: word });
            }),
            `${word} after ${other}`,
          ).to.equal('MAP_BAD_VALUE');
          expect(test.dump().equals(before)).to.equal(true);
          expect(
            codeOf(() => {
              test.set({ [other]: value, [name]: 'const' });
            }),
            `const and ${other}`,
          ).to.equal(null);
        }
      }
    }
  });
});

describe('rules: the "not implemented" value', () => {
  it('marks a curve point as not in use and can be written nowhere else', () => {
    const kinds = new Map(
      layout.slots.filter((slot) => slot.writable && slot.def.type !== 'string').map((slot) => [plainName(slot), slot]),
    );
    for (const [name, slot] of kinds) {
      const signed = slot.def.type.startsWith('int');
      const first = signed ? 0x8000 : 0xffff;
      const bytes = slot.def.size === 1 ? words(first) : words(first, signed ? 0 : 0xffff);
      const code = codeOf(() => {
        storageBank().bank.write(slot.address, bytes, byModbus);
      });
      expect(code, name).to.equal(/\.Pt\./.test(name) ? null : 'MAP_BAD_VALUE');
    }
  });
});

describe('rules: functions that a device must have (702.CtrlModes)', () => {
  for (const [key, mode] of Object.entries(requiredMode)) {
    it(`${key} needs ${mode}`, () => {
      const only = createTestBank({
        storage: true,
        simModels: true,
        classic: true,
        start: (map) => {
          map.m702.CtrlModes = ctrlModeMask(mode);
        },
      });
      expect(
        codeOf(() => {
          only.set({ [key]: 'ENABLED' });
        }),
      ).to.equal(null);
      const without = createTestBank({
        storage: true,
        simModels: true,
        classic: true,
        start: (map) => {
          map.m702.CtrlModes = 0x3fff - ctrlModeMask(mode);
        },
      });
      const before = without.dump();
      expect(
        codeOf(() => {
          without.set({ [key]: 'ENABLED', '704.WRmp': 3 });
        }),
      ).to.equal('MAP_NOT_SUPPORTED');
      expect(
        codeOf(() => {
          without.bank.write(named(layout, key).address, words(1), byModbus);
        }),
      ).to.equal('MAP_NOT_SUPPORTED');
      expect(without.dump().equals(before)).to.equal(true);
      expect(
        codeOf(() => {
          without.set({ [key]: 'DISABLED' });
        }),
      ).to.equal(null);
    });
  }

  it('a device that does not say what it has, has none', () => {
    const test = createTestBank({ omit: ['702.CtrlModes'] });
    expect(
      codeOf(() => {
        test.set({ '705.Ena': 'ENABLED' });
      }),
    ).to.equal('MAP_NOT_SUPPORTED');
  });
});
