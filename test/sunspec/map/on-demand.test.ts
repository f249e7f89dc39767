import { expect } from 'chai';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { RegisterBank } from '../../../src/sunspec/map/register-bank.ts';
import { byModbus, codeOf, mapLayout, named } from '../../support/map.ts';
import { startImage } from '../../support/map-start.ts';

const clock = { sim: () => simTimeFromMs(0), wallMs: () => 0 };
const layout = mapLayout({ simModels: true });
const irradiance = named(layout, '64413.Irr');
const before = named(layout, '715.OpCtl');
const after = named(layout, '64414.Time');

/** A bank whose 64413 shows how often it was drawn. */
function countingBank() {
  let drawn = 0;
  const bank = new RegisterBank(layout, startImage(layout), clock, {
    onDemand: {
      modelId: 64413,
      update: (map) => {
        drawn += 1;
        if (map.m64413) map.m64413.Irr = drawn;
      },
    },
  });
  return { bank, drawn: () => drawn };
}

describe('registers on demand', () => {
  it('are drawn before a read that touches them, and before no other', () => {
    const { bank, drawn } = countingBank();
    const first = layout.models.find(({ def }) => def.id === 64413)!.address;
    bank.read(layout.base, first - layout.base);
    bank.read(after.address - 2, 80);
    bank.value(before);
    bank.raw(after);
    expect(bank.map.m64414!.Time).to.equal('');
    expect(drawn()).to.equal(0);
    expect(bank.read(first - 1, 2).readUInt16BE(2)).to.equal(64413);
    expect(drawn()).to.equal(1);
    expect(bank.read(after.address - 3, 1)).to.have.length(2);
    expect(drawn()).to.equal(2);
    expect(bank.read(irradiance.address, 1).readUInt16BE(0)).to.equal(30);
    expect(bank.read(layout.base, layout.size).readUInt16BE((irradiance.address - layout.base) * 2)).to.equal(40);
  });

  it('are the same whichever way one looks', () => {
    const { bank } = countingBank();
    expect(bank.value(irradiance)).to.equal(1);
    expect(bank.raw(irradiance)).to.deep.equal([20]);
    expect(bank.map.m64413!.Irr).to.equal(3);
    expect(bank.reader(irradiance)()).to.equal(4);
  });

  it('readers of other points draw nothing, and show each commit', () => {
    const { bank, drawn } = countingBank();
    const limit = bank.reader(named(layout, '704.WMaxLimPct'));
    const switched = bank.reader(named(layout, '704.WMaxLimPctEna'));
    expect([limit(), switched()]).to.deep.equal([100, 'DISABLED']);
    expect(drawn()).to.equal(0);
    bank.transact(byModbus, (tx) => {
      tx.m704.WMaxLimPct = 60;
      tx.m704.WMaxLimPctEna = 'ENABLED';
      expect(limit(), 'before the commit').to.equal(100);
    });
    const atCommit = drawn();
    expect([limit(), switched()]).to.deep.equal([60, 'ENABLED']);
    expect(drawn()).to.equal(atCommit);
  });

  it('a refused read draws nothing', () => {
    const { bank, drawn } = countingBank();
    expect(codeOf(() => bank.read(layout.base, layout.size + 1))).to.equal('MAP_ILLEGAL_ADDRESS');
    expect(drawn()).to.equal(0);
  });

  it('a look in the middle of a commit is not undone by it', () => {
    let stale = true;
    const bank = new RegisterBank(layout, startImage(layout), clock, {
      onDemand: {
        modelId: 64413,
        update(map) {
          if (stale && map.m64413) map.m64413.Irr = 700;
          stale = false;
        },
      },
    });
    bank.transact(byModbus, (tx) => {
      tx.m704.WMaxLimPct = 60;
      expect(bank.value(irradiance)).to.equal(700);
    });
    expect(bank.value(irradiance)).to.equal(700);
  });

  it('a map without the model has none', () => {
    const lean = mapLayout();
    const bank = new RegisterBank(lean, startImage(lean), clock, {
      onDemand: {
        modelId: 64413,
        update: () => {
          throw new Error('asked');
        },
      },
    });
    expect(bank.read(lean.base, lean.size)).to.have.length(2 * lean.size);
    expect(bank.map.m64413).to.equal(undefined);
  });
});
