/** All clients of a soak that connect to the simulator. */
import { createRandom } from '../src/core/random.ts';
import { Scada } from './clients/dnp3.ts';
import { comparingMaster, EnergyWatch, steadyMaster } from './clients/modbus.ts';
import type { EnergyMark, Master } from './clients/modbus.ts';
import { RestClient, visits } from './clients/rest.ts';
import { get } from './clients/rest-call.ts';
import { StreamReader } from './clients/streams.ts';
import { devicesOf } from './fleet.ts';
import type { FleetDevice } from './fleet.ts';
import { Promises } from './promises.ts';
import { Gate, Tally } from './tally.ts';
import type { Ports, TallyReport } from './tally.ts';

export interface ClientsOptions {
  readonly fleet: readonly FleetDevice[];
  readonly seed: number;
  readonly masters: number;
  readonly streams: number;
  readonly restPerS: number;
  /** share of REST requests that are commands */
  readonly commandShare: number;
  readonly scadas: number;
  readonly dnp3PeriodMs: number;
  /** all energy counters are read within this time */
  readonly energyRoundMs: number;
  readonly comparePeriodMs: number;
  /** bounds of the time that a vehicle stays, ms */
  readonly stayMs: readonly [low: number, high: number];
}

/** Values that were not the promised ones after a restart. */
export interface RestartIssues {
  readonly rest: readonly string[];
  readonly dnp3: readonly string[];
  readonly energy: readonly string[];
}

/** Loss that is permitted for energy counters (class D1), ms. */
const lossMs = 1000;
/** one of this many stream clients never reads */
const deafOneOf = 10;
const excuseMs = 3000;
/** Wh; resolution of the energy counters */
const resolutionWh = 1;

export class Clients {
  readonly #gate = new Gate();
  readonly #tallies: readonly Tally[];
  readonly #masters: readonly Master[];
  readonly #streams: readonly StreamReader[];
  readonly #scadas: readonly Scada[];
  readonly #rest: RestClient;
  readonly #energies: EnergyWatch;
  readonly #promises = { rest: new Promises(), dnp3: new Promises() };
  #marks: readonly EnergyMark[] = [];

  constructor(options: ClientsOptions) {
    const { fleet, seed, masters, streams, restPerS, stayMs, scadas, dnp3PeriodMs } = options;
    const gate = this.#gate;
    const tally = (name: string) => new Tally(name, gate.isExcused);
    const random = (...names: readonly (string | number)[]) => createRandom(seed, 'soak', ...names);
    const tallies = {
      modbus: tally('modbus'),
      compared: tally('modbus and rest'),
      energy: tally('energy counters'),
      rest: tally('rest'),
      sessions: tally('sessions'),
      streams: tally('streams'),
      dnp3: tally('dnp3'),
    };
    this.#tallies = Object.values(tallies);
    this.#masters = [
      ...Array.from({ length: masters }, (_, i) =>
        steadyMaster(gate, tallies.modbus, (i % fleet.length) + 1, random('master', i)),
      ),
      comparingMaster(gate, tallies.compared, fleet.length, options.comparePeriodMs),
    ];
    this.#energies = new EnergyWatch(gate, tallies.energy, fleet.length, options.energyRoundMs);
    this.#streams = Array.from(
      { length: streams },
      (_, i) => new StreamReader(gate, tallies.streams, i % deafOneOf !== deafOneOf - 1),
    );
    const [pv] = devicesOf(fleet, 'PV-3Phase');
    const rest = {
      gate,
      tally: tallies.rest,
      promises: this.#promises.rest,
      random: random('rest'),
      pv: pv?.index ?? 0,
    };
    this.#rest = new RestClient(rest);
    if (restPerS > 0) void this.#rest.run(restPerS, options.commandShare);
    for (const device of fleet)
      if (device.station !== null)
        void visits(device, { gate, tally: tallies.sessions, random: random('visits', device.index), stayMs });
    const batteries = devicesOf(fleet, 'Batt-3Phase').map(({ index }) => index);
    // batteries first: they take set-points
    const order = [...batteries, ...fleet.map(({ index }) => index).filter((index) => !batteries.includes(index))];
    this.#scadas = order.slice(0, scadas).map((device) => {
      const operates = batteries.includes(device);
      const promises = this.#promises.dnp3;
      const common = { gate, tally: tallies.dnp3, promises, device, operates, periodMs: dnp3PeriodMs };
      return new Scada({ ...common, random: random('dnp3', device) });
    });
    for (const scada of this.#scadas) void scada.run();
  }

  /** A life of the simulator has begun. @returns null: the first one, of which nothing was promised */
  async begin(ports: Ports, checks: boolean): Promise<RestartIssues | null> {
    const issues = checks ? await this.#issues(ports.http) : null;
    this.#gate.begin(ports);
    return issues;
  }

  async #issues(http: number): Promise<RestartIssues> {
    const [rest, dnp3, energy] = await Promise.all([
      this.#rest.issues(http),
      Promise.all(this.#scadas.map((scada) => scada.issues(http))),
      this.#energyIssues(http),
    ]);
    return { rest, dnp3: dnp3.flat(), energy };
  }

  async #energyIssues(http: number): Promise<readonly string[]> {
    const devices = [...new Set(this.#marks.map(({ device }) => device))];
    const valuesWh = new Map<string, number>();
    for (const device of devices) {
      const { points } = await get(http, `registers/701?device=${device}&points=TotWhInj,TotWhAbs`);
      for (const { name, value } of points as readonly { name: string; value: number | null }[])
        valuesWh.set(`${device} ${name}`, value ?? 0);
    }
    return this.#marks.flatMap(({ device, point, wh, atMs }) => {
      const value = valuesWh.get(`${device} ${point}`) ?? 0;
      if (value >= wh - resolutionWh) return [];
      const instant = new Date(atMs).toISOString();
      return [`device ${device}: 701.${point} is ${value} Wh after the restart; it was ${wh} Wh at ${instant}`];
    });
  }

  /** The simulator is about to end: lost connections are no errors from here on. */
  down(): void {
    this.#gate.close();
  }

  /** Takes the readings that a restart must not fall below. Called right after the end of a life. */
  ended(killedAtMs: number): void {
    this.#marks = this.#energies.marks(Math.max(0, Date.now() - killedAtMs) + lossMs);
  }

  /** For some seconds no error counts. */
  excuse(): void {
    this.#gate.excusedUntilMs = performance.now() + excuseMs;
  }

  /** Cuts the connections of all clients. */
  cut(): void {
    this.excuse();
    for (const client of [...this.#masters, ...this.#streams, ...this.#scadas, this.#energies]) client.cut();
  }

  /** Vehicles leave, and no new ones come. */
  leave(): void {
    this.#gate.isLeaving = true;
  }

  get promised(): number {
    return this.#promises.rest.size + this.#promises.dnp3.size;
  }

  report(): readonly TallyReport[] {
    return this.#tallies.map((tally) => tally.report());
  }

  end(): void {
    this.#gate.isEnded = true;
    this.#gate.close();
    this.cut();
  }
}
