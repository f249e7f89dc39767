/** Energy of every kind: the same whatever the tick, and none lost on the way from DC to AC. */
import { expect } from 'chai';
import { acFromDc, dcFromAc } from '../../../src/der/inverter/dc-link.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { pick } from '../../support/depth.ts';
import { countersOf, fleetKinds, kindPlant, kindSpec, master, operator } from './support.ts';
import type { FleetKind, KindSpec } from './support.ts';

const reversible: KindSpec = {
  args: ['-d', 'Fuelcell-3Phase', '-f', 'Fuelcell-PEM-5kW-reversible-3Phase'],
  fuelCell: { tankCapacityKg: 4 },
};
const site: readonly KindSpec[] = [...fleetKinds.map(kindSpec), reversible];
const names: readonly string[] = [...fleetKinds, 'reversibleFuelCell'];
const at = (kind: FleetKind | 'reversibleFuelCell') => names.indexOf(kind);

/** The tick at rate 1, and a length of a stage at which every rate has a tick that ends. */
const { tickS, stageS } = pick({ quick: { tickS: 0.5, stageS: 1500 }, ci: { tickS: 1.5, stageS: 4500 } });
/** of the course that all others are compared with */
const fineRate = pick({ quick: 20, ci: 2, full: 1 });

function demand(plant: SimPlant, device: number, watts: number): void {
  plant.device(device).bank.transact(master, ({ m704 }) => {
    Object.assign(m704, { WSetMod: 'WATTS', WSet: watts, WSetEna: 'ENABLED' });
  });
}

/** What begins with a stage, the same for every rate. */
const limitAll = (plant: SimPlant, pct: number) => {
  for (const { bank } of plant.devices)
    bank.transact(master, ({ m704 }) => {
      Object.assign(m704, { WMaxLimPct: pct, WMaxLimPctEna: 'ENABLED' });
    });
};

/** What begins with a stage, the same for every rate. */
const stages: readonly ((plant: SimPlant) => void)[] = [
  (plant) => {
    plant.device(at('evse')).command({ kind: 'evse.plug', connectorId: 1 }, operator);
    demand(plant, at('battery'), -3000);
    demand(plant, at('hybrid'), 4000);
    demand(plant, at('reversibleFuelCell'), 3000);
  },
  (plant) => {
    demand(plant, at('battery'), 4000);
    demand(plant, at('hybrid'), -2000);
    demand(plant, at('fuelCell'), 3000);
    demand(plant, at('reversibleFuelCell'), -4000);
    limitAll(plant, 50);
  },
  (plant) => {
    demand(plant, at('battery'), -1500);
    demand(plant, at('hybrid'), 9000);
    demand(plant, at('reversibleFuelCell'), 1000);
    limitAll(plant, 100);
  },
];

type Counters = readonly (readonly number[])[];
const days = new Map<number, Promise<Counters>>();

/** The counters of all devices after all stages. */
function day(rate: number): Promise<Counters> {
  let counters = days.get(rate);
  if (!counters) {
    counters = simulatedDay(rate);
    days.set(rate, counters);
  }
  return counters;
}

async function simulatedDay(rate: number): Promise<Counters> {
  const plant = kindPlant(site, { tickIntervalS: tickS, rate, time: '09:00:00' });
  for (const stage of stages) {
    stage(plant);
    await plant.step(stageS / tickS / rate);
  }
  return plant.devices.map(countersOf);
}

const counterNames = [
  'AC injected',
  'AC absorbed',
  'var-hours injected',
  'var-hours absorbed',
  'DC injected',
  'DC absorbed',
];

describe('mixed plant: energy does not depend on the tick', () => {
  let fine: Counters;

  before(async () => {
    fine = await day(fineRate);
  });

  it('every kind has worked', () => {
    const moved = fine.map(([injected = 0, absorbed = 0]) => injected + absorbed);
    moved.forEach((wh, i) => {
      expect(wh, names[i]).to.be.above((500 * stageS) / 4500);
    });
    // a turbine at its rating all the time would show nothing
    const hours = (stages.length * stageS) / 3600;
    expect((moved[at('windT3')] ?? NaN) / (5e6 * hours)).to.be.within(0.2, 0.8);
    expect((moved[at('windT4')] ?? NaN) / (15e6 * hours)).to.be.within(0.2, 0.9);
  });

  for (const rate of [60, 1000]) {
    it(`hours at rate ${rate}: every counter of every kind within 0.5 %`, async () => {
      const coarse = await day(rate);
      coarse.forEach((counters, device) => {
        counters.forEach((wh, i) => {
          const expected = fine[device]?.[i] ?? NaN;
          expect(wh, `${names[device] ?? ''}: ${counterNames[i] ?? ''}`).to.be.closeTo(expected, 0.005 * expected + 2);
        });
      });
    });
  }
});

describe('mixed plant: conservation', () => {
  const efficiency: Readonly<Record<string, number>> = {
    pv: 0.96,
    battery: 0.97,
    windT3: 0.97,
    windT4: 0.97,
    fuelCell: 0.97,
    hybrid: 0.96,
    reversibleFuelCell: 0.97,
  };

  it('DC power is AC power and the losses of the converter, at every tick and whatever the direction', async () => {
    const plant = kindPlant(site, { tickIntervalS: 1.5, time: '10:00:00' });
    const seen = new Map<string, number>();
    for (const stage of stages) {
      stage(plant);
      for (let i = 0; i < pick({ quick: 20, ci: 60 }); i += 1) {
        await plant.step(1);
        plant.devices.forEach(
          (
            {
              bank: {
                map: { m701, m702, m714 },
              },
            },
            index,
          ) => {
            const name = names[index] ?? '';
            const eta = efficiency[name];
            const [w, dcW, ratedW] = [m701.W ?? NaN, m714.DCW ?? NaN, m702.WMaxRtg ?? NaN];
            if (eta === undefined) return;
            seen.set(name, Math.max(seen.get(name) ?? 0, Math.abs(w)));
            // at rest the converter may use up what there is
            if (w > 0) expect(dcW, name).to.be.closeTo(dcFromAc(w, ratedW / eta, eta), 0.001 * ratedW);
            if (w < 0) expect(-dcW, name).to.be.closeTo(acFromDc(-w, ratedW / eta, eta), 0.001 * ratedW);
            if (w === 0 && m701.ConnSt === 'DISCONNECTED') expect(dcW, name).to.equal(0);
          },
        );
      }
    }
    for (const name of Object.keys(efficiency)) expect(seen.get(name), name).to.be.above(100);
  });

  it('the counters of DC minus those of AC are losses of 0..20 % of the energy', async () => {
    const counters = await day(60);
    counters.forEach(([acIn = 0, acOut = 0, , , dcIn = 0, dcOut = 0], i) => {
      if (names[i] === 'evse') return;
      const lossWh = dcIn - dcOut - (acIn - acOut);
      expect(lossWh / (acIn + acOut), names[i]).to.be.within(0, 0.2);
    });
  });

  it('an electric vehicle gains the energy of its meter minus the losses of its charger', async () => {
    const plant = kindPlant([{ args: ['--evse_profile', 'EVSE-V2G-DC-50kW-bidir'] }], { tickIntervalS: 1.5 });
    const device = plant.device(0);
    const connector = () => {
      const { detail } = device;
      return detail.kind === 'evse' ? detail.connectors[0] : undefined;
    };
    device.command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 50 } }, operator);
    await plant.step(400);
    const charged = connector();
    expect((((charged?.ev?.socPct ?? NaN) - 50) / 100) * 75_000).to.be.closeTo(
      0.95 * (charged?.energyWh ?? NaN),
      0.001 * 75_000 * 0.1,
    );
    demand(plant, 0, 30_000);
    await plant.step(300);
    const drained = connector();
    const lostWh = (((charged?.ev?.socPct ?? NaN) - (drained?.ev?.socPct ?? NaN)) / 100) * 75_000;
    const meteredWh =
      (drained?.energyExportWh ?? NaN) / 0.95 - 0.95 * ((drained?.energyWh ?? NaN) - (charged?.energyWh ?? NaN));
    expect(lostWh).to.be.closeTo(meteredWh, 0.001 * meteredWh);
    expect(device.bank.map.m701.TotWhInj).to.be.closeTo(
      drained?.energyExportWh ?? NaN,
      0.001 * (drained?.energyExportWh ?? NaN) + 2,
    );
  });
});
