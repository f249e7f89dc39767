import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../src/core/errors.ts';
import { keptMembers, keptParts, keptRecord } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { Scheduler } from '../../../src/core/time/scheduler.ts';
import { gridEventNames } from '../../../src/contract/environment.ts';
import type { GridPatch, SurroundingsPatch } from '../../../src/contract/environment.ts';
import type { Environment, WeatherNow } from '../../../src/der/surroundings/environment.ts';
import { SeriesTime } from '../../../src/der/surroundings/series-time.ts';
import { parseVisits, Visits } from '../../../src/der/surroundings/visits.ts';
import { expectContinuation, throughFile } from '../../support/continuation.ts';
import { at, fallingProfile, steadyEnvironment } from '../../support/environment.ts';
import { holds } from '../../support/property.ts';

/** Runs an act that may be refused. */
function attempt(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
  }
}

type Act = { readonly device: number | undefined } & (
  | { readonly grid: GridPatch }
  | { readonly event: (typeof gridEventNames)[number] | null }
  | { readonly surroundings: SurroundingsPatch }
  | { readonly reset: number }
  | { readonly wait: true }
);

const stepS = 0.7;

class Driven {
  readonly environment: Environment = steadyEnvironment(fallingProfile);
  step = 0;

  act(act: Act | undefined, step: number): void {
    this.step = step;
    const { environment } = this;
    const instant = at(step * stepS);
    const writer = { source: 'rest', peer: `client ${step}`, at: instant, wallMs: step } as const;
    if (act === undefined || 'wait' in act) return;
    const { device } = act;
    attempt(() => {
      if ('grid' in act) environment.setGrid(act.grid, instant, device);
      else if ('surroundings' in act) environment.setSurroundings(act.surroundings, instant, device);
      else if ('reset' in act) environment.clearLocal(act.reset);
      else if (act.event === null) environment.stopGridEvent(instant, device);
      else environment.startGridEvent(act.event, {}, instant, device);
      if ('surroundings' in act) environment.surroundingsWriters.recordWriter(writer, device);
      else if (!('reset' in act)) environment.gridWriters.recordWriter(writer, device);
    });
  }

  get view(): unknown {
    const { environment } = this;
    const present = at(this.step * stepS + 0.3);
    const weather: WeatherNow = { irradianceWm2: 0, ambientTemperatureC: 0, cellTemperatureC: null, windSpeedMS: 0 };
    return [0, 1].map((device) => {
      environment.weatherAt(device, present, weather);
      return {
        grid: [environment.grid(present), environment.grid(present, device)],
        surroundings: [environment.surroundings(present), environment.surroundings(present, device)],
        // a device may lag behind the last change
        behind: [environment.gridAt(device, at(this.step * stepS - 0.2)), environment.loadW(device, present)],
        weather: { ...weather },
        course: [environment.gridMotion(device, present), environment.nextEvent(device, present)],
        sources: [environment.gridSource(device, present), environment.irradianceSource(device, present)],
      };
    });
  }

  kept(): Kept {
    return keptParts({ step: keptMembers(this, 'step'), environment: this.environment.kept() });
  }
}

const devices = fc.constantFrom(undefined, 0, 1);
const rampS = fc.constantFrom(0, 3);
const durationS = fc.constantFrom(null, 4, 9);
const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    device: devices,
    grid: fc.oneof(
      fc.record({ voltagePu: fc.constantFrom(0.9, 1.05), rampS, durationS }),
      fc.record({ voltageBPu: fc.constantFrom(0.95, 1.02), frequencyHz: fc.constantFrom(59, 60.2), rampS, durationS }),
      fc.record({ outage: fc.boolean(), durationS }),
      fc.record({ island: fc.boolean(), durationS }),
      fc.record({ source: fc.constantFrom('csv' as const, 'const' as const), durationS }),
    ),
  }),
  fc.record({ device: devices, event: fc.option(fc.constantFrom(...gridEventNames)) }),
  fc.record({
    device: devices,
    surroundings: fc.oneof(
      fc.record({ irradianceWm2: fc.constantFrom(null, 200, 800), rampS, durationS }),
      fc.record({ ambientTemperatureC: fc.constantFrom(null, -5), cellTemperatureC: fc.constantFrom(null, 40), rampS }),
      fc.record({ loadKw: fc.constantFrom(null, 1, 4), rampS, durationS }),
      fc.record({ source: fc.constantFrom('csv' as const, 'const' as const, 'clear_sky' as const), durationS }),
    ),
  }),
  fc.record({ device: devices, reset: fc.constantFrom(0, 1) }),
  fc.record({ device: devices, wait: fc.constant(true as const) }),
);

describe('surroundings: state that a restart keeps', () => {
  it('ramps, changes with a duration, events, deviations and writers go on', () => {
    holds(
      'surroundings go on',
      [fc.array(acts, { minLength: 1, maxLength: 12 }), fc.nat({ max: 12 })],
      (list, cut) => {
        expectContinuation({
          make: () => new Driven(),
          drive: (driven, step) => {
            driven.act(list[step], step);
          },
          observe: ({ view }) => view,
          before: Math.min(cut, list.length),
          after: list.length + 6,
        });
      },
      { runs: 200 },
    );
  });

  it('a profile of the grid that is no longer there leaves the value before it', () => {
    const first = steadyEnvironment(fallingProfile);
    first.setGrid({ voltagePu: 0.97 }, at(1));
    first.setGrid({ source: 'csv' }, at(2));
    const second = steadyEnvironment();
    second.kept().restore(throughFile(first.kept().save()));
    expect([first.gridAt(0, at(5)).aPu, second.gridAt(0, at(5)).aPu]).to.deep.equal([0.95, 0.97]);
    expect(second.gridSource(0, at(5))).to.equal('const');
  });
});

describe('time base of series: state that a restart keeps', () => {
  it('counts from the midnight of the first process', () => {
    const clockAt = (dateMs: number) => ({
      tickTime: simTimeFromMs(dateMs),
      dateMs: (t: SimTime) => t / 1000,
      midnightMs: (t: SimTime) => Math.floor(t / 86_400e6) * 86_400e3,
      simAt: (dateMs: number) => (dateMs * 1000) as SimTime,
    });
    const first = new SeriesTime(clockAt(Date.UTC(2026, 5, 21, 12)));
    const second = new SeriesTime(clockAt(Date.UTC(2026, 5, 23, 1)));
    const later = simTimeFromMs(Date.UTC(2026, 5, 23, 2));
    expect([second.originS, second.at(later)]).to.deep.equal([3600, 7200]);
    second.kept().restore(throughFile(first.kept().save()));
    expect([second.originS, second.at(later)]).to.deep.equal([43_200, 180_000]);
    expect([first.originS, first.at(later)]).to.deep.equal([43_200, 180_000]);
  });
});

const table = [
  'time_s,connector,stay_s',
  '10,1,30',
  '20,2,5',
  // leaves as another one arrives
  '40,1,15',
  '60,2,20',
  '90,1,7',
].join('\n');

/** A station that only plugs. */
class Station {
  readonly scheduler = new Scheduler();
  plugged: readonly (string | null)[] = [null, null];
  events: string[] = [];
  at: SimTime = 0 as SimTime;
  readonly #visits: Visits;

  constructor(end: 'hold' | 'loop', planS: number) {
    this.#visits = new Visits(parseVisits(table, 'cars.csv', end), {
      command: (command) => {
        const id = command.kind === 'evse.plug' ? (command.ev?.id ?? null) : null;
        this.plugged = this.plugged.map((before, i) => (i + 1 === command.connectorId ? id : before));
        this.events.push(`${this.at}: ${command.kind} ${command.connectorId} ${id ?? ''}`);
      },
      connectors: () => this.plugged.map((id, i) => ({ connectorId: i + 1, ev: id === null ? null : { id } })) as never,
      warn: (text) => this.events.push(text),
    });
    this.#visits.begin(this.scheduler, this.at, planS);
  }

  run(seconds: number): void {
    this.events = [];
    const end = addSeconds(this.at, seconds);
    while (this.scheduler.nextDue <= end) {
      this.at = this.scheduler.nextDue as SimTime;
      this.scheduler.runNext(this.at);
    }
    this.at = end;
  }

  kept(): Kept {
    return keptParts({
      members: keptRecord(
        () => ({ plugged: this.plugged, events: this.events, at: this.at }),
        ({ plugged, events, at: instant }) => {
          this.plugged = plugged;
          this.events = events;
          this.at = instant;
        },
      ),
      scheduler: this.scheduler.kept(),
      visits: this.#visits.kept(this.scheduler),
    });
  }
}

describe('visits of vehicles: state that a restart keeps', () => {
  it('come and go as without the restart', () => {
    holds(
      'visits go on',
      [
        fc.constantFrom('hold' as const, 'loop' as const),
        fc.constantFrom(0, 15, 50, 86_380, 86_500),
        fc.array(fc.constantFrom(3, 10, 17.5, 86_400), { minLength: 1, maxLength: 12 }),
        fc.nat({ max: 12 }),
      ],
      (end, planS, waits, cut) => {
        expectContinuation({
          make: () => new Station(end, planS),
          drive: (station, step) => {
            station.run(waits[step] ?? 30);
          },
          observe: ({ plugged, events, scheduler }) => ({ plugged, events, nextDue: scheduler.nextDue }),
          before: Math.min(cut, waits.length),
          after: waits.length + 3,
        });
      },
    );
  });
});
