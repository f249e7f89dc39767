import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import type { WritableMapView } from '../../src/sunspec/map/view.ts';
import { pick } from '../support/depth.ts';
import { testPlant } from '../support/plant.ts';
import type { TestPlantOptions } from '../support/plant.ts';
import { HandWall } from '../support/wall.ts';

const by = { source: 'modbus', peer: '192.0.2.1:1' } as const;
const ticks = 2000;
/** A run leaves out all ticks but one of so many; the events come all the same. */
const pace = pick({ quick: 5, ci: 1 });

const set = (plant: SimPlant, device: number, change: (tx: WritableMapView) => void) => {
  plant.device(device).bank.transact(by, change);
};

/** What happens before which tick. */
const events: Readonly<Record<number, (plant: SimPlant) => void>> = {
  10: (plant) => {
    set(plant, 0, (tx) => {
      Object.assign(tx.m704, {
        WMaxLimPctEna: 'ENABLED',
        WMaxLimPct: 60,
        WMaxLimPctRvrtTms: 77,
        WMaxLimPctEnaRvrt: 'DISABLED',
      });
    });
  },
  40: (plant) => {
    set(plant, 1, (tx) => {
      Object.assign(tx.m703, { ESDlyTms: 20, ESRndTms: 60, ESRmpTms: 30 });
    });
  },
  60: (plant) => {
    plant.setGrid({ voltagePu: 0.4, durationS: 2.7 });
  },
  150: (plant) => {
    set(plant, 0, (tx) => {
      tx.m704.VarSetEna = 'ENABLED';
      tx.m704.VarSetPct = 40;
    });
  },
  300: (plant) => {
    plant.commands.submit({ command: 'stop', deviceIndex: 0 }, by);
  },
  320: (plant) => {
    plant.commands.submit({ command: 'start', deviceIndex: 0 }, by);
  },
  500: (plant) => {
    plant.setGrid({ frequencyHz: 61, rampS: 100 }, 1);
  },
  800: (plant) => {
    plant.setSurroundings({ irradianceWm2: 900, rampS: 60, durationS: 200 }, 0);
  },
  1100: (plant) => {
    set(plant, 1, (tx) => {
      tx.m704.PFWInjEna = 'ENABLED';
      tx.m704.PFWInj.PF = 0.92;
    });
  },
  1500: (plant) => {
    plant.setGrid({ voltagePu: 1.05, frequencyHz: 60, rampS: 5 });
  },
};

let looks = 0;

/** Looks at everything that a reader may look at. */
function readers(plant: SimPlant): void {
  for (const device of plant.devices) {
    device.bank.read(device.bank.layout.base, 100);
    device.dcCurve(undefined, 30);
    looks += [device.alarms, device.enterService, device.activeTrips, device.statusMessage, device.detail].length;
  }
  looks += [
    plant.latest.published,
    plant.grid(),
    plant.grid(1),
    plant.surroundings(),
    plant.surroundings(0),
    plant.time,
    plant.health,
  ].length;
}

function dumps(plant: SimPlant): Buffer[] {
  return plant.devices.map(({ bank }) => Buffer.from(bank.read(bank.layout.base, bank.layout.size)));
}

async function run(
  options: TestPlantOptions,
  between: (plant: SimPlant) => void = () => undefined,
): Promise<{ final: Buffer[]; hash: string }> {
  const plant = testPlant({
    types: ['PV-3Phase', 'PV-1Phase'],
    weatherSource: 'clear_sky',
    clouds: 'broken',
    pv: { latitudeDeg: 40, longitudeDeg: 0 },
    seed: 42,
    ...options,
  });
  const hash = createHash('sha256');
  for (let tick = 0; tick < ticks; tick += pace) {
    for (let at = tick; at < tick + pace; at += 1) events[at]?.(plant);
    between(plant);
    await plant.step(1);
    for (const dump of dumps(plant)) hash.update(dump);
  }
  return { final: dumps(plant), hash: hash.digest('hex') };
}

describe('Determinism', () => {
  let reference: { final: Buffer[]; hash: string };

  before(async () => {
    reference = await run({});
  });

  it('the same seed and inputs give the same registers, tick by tick', async () => {
    const again = await run({ wall: new HandWall(12_345) });
    expect(again.final.every((dump, i) => dump.equals(reference.final[i]!))).to.equal(true);
    expect(again.hash).to.equal(reference.hash);
  });

  it('readers between the ticks change nothing', async () => {
    expect((await run({}, readers)).hash).to.equal(reference.hash);
    expect(looks).to.be.above(ticks / pace);
  });

  it('another seed gives other weather', async () => {
    expect((await run({ seed: 43 })).hash).not.to.equal(reference.hash);
  });
});

describe('Independence of the tick', () => {
  const scenario = [
    {
      name: 'limit',
      seconds: 30,
      act: (plant: SimPlant) => {
        set(plant, 0, (tx) => {
          tx.m704.WMaxLimPctEna = 'ENABLED';
          tx.m704.WMaxLimPct = 35;
        });
      },
    },
    {
      name: 'vars',
      seconds: 30,
      act: (plant: SimPlant) => {
        set(plant, 0, (tx) => {
          tx.m704.VarSetEna = 'ENABLED';
          tx.m704.VarSetPct = -70;
        });
      },
    },
    {
      name: 'cloud',
      seconds: 60,
      act: (plant: SimPlant) => {
        plant.setSurroundings({ irradianceWm2: 250 });
      },
    },
    {
      name: 'sag',
      seconds: 30,
      act: (plant: SimPlant) => {
        plant.setGrid({ voltagePu: 0.7 });
      },
    },
    {
      name: 'trip',
      seconds: 60,
      act: (plant: SimPlant) => {
        plant.setGrid({ frequencyHz: 63, durationS: 20.5 });
      },
    },
    {
      name: 'sun and voltage back',
      seconds: 420,
      act: (plant: SimPlant) => {
        plant.setGrid({ voltagePu: 1 });
        plant.setSurroundings({ irradianceWm2: 1000 });
      },
    },
  ];

  async function plateaus(tickS: number): Promise<number[][]> {
    const plant = testPlant({ tickIntervalS: 0.1, rate: tickS / 0.1 });
    plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
    set(plant, 0, (tx) => {
      Object.assign(tx.m703, { ESDlyTms: 100, ESRmpTms: 200 });
    });
    const { m701 } = plant.device(0).bank.map;
    const seen: number[][] = [];
    for (const { seconds, act } of scenario) {
      act(plant);
      await plant.step(Math.round(seconds / tickS));
      seen.push([m701.W!, m701.Var!, m701.InvSt === 'RUNNING' ? 1 : 0, m701.TotWhInj!]);
    }
    return seen;
  }

  it('plateaus and energies agree from short ticks to those of 30 s', async () => {
    const [fineS = 0, ...coarserS] = pick({ quick: [0.5, 1.5, 30], ci: [0.1, 0.5, 1.5, 10, 30] });
    const fine = await plateaus(fineS);
    for (const tickS of coarserS) {
      const coarse = await plateaus(tickS);
      coarse.forEach(([w, q, running, wh], i) => {
        const [w0, q0, running0, wh0] = fine[i]! as [number, number, number, number];
        const name = `${scenario[i]!.name} in ticks of ${tickS} s`;
        expect(w, name).to.be.closeTo(w0, 0.001 * w0 + 1);
        expect(q, name).to.be.closeTo(q0, 0.001 * Math.abs(q0) + 1);
        expect(running, name).to.equal(running0);
        expect(wh, name).to.be.closeTo(wh0, 0.002 * wh0 + 1);
      });
    }
  });

  it('transitions fall on the same instant', async () => {
    async function instantOfEntry(tickS: number): Promise<number> {
      const plant = testPlant({
        tickIntervalS: 0.1,
        rate: tickS / 0.1,
        models: { 703: { ESDlyTms: 30, ESRndTms: 60, ESRmpTms: 0 } },
      });
      plant.setGrid({ frequencyHz: 63, durationS: 7.3 });
      const { bank } = plant.device(0);
      const begin = plant.time.sim;
      while (plant.device(0).enterService.delayRemainingS === 0) await plant.step(1);
      return (plant.latest.sim - begin) / 1e6 + plant.device(0).enterService.delayRemainingS + (bank.map.m701.W ?? 0);
    }
    const fine = await instantOfEntry(0.1);
    expect(fine).to.be.within(37.3, 97.3);
    for (const tickS of [1.5, 10, 25]) expect(await instantOfEntry(tickS)).to.be.closeTo(fine, 1e-5);
  });
});
