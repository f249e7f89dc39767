/** A reporter with its plant, a server, and clocks that a test moves. */
import { createDeviceReports } from '../../../src/csip/report/report-bridge.ts';
import { Reporter } from '../../../src/csip/report/reporter.ts';
import type { DerHrefs, ReporterOptions, ReportHrefs } from '../../../src/csip/report/reporter.ts';
import type { MirrorMeterReading, MirrorUsagePoint } from '../../../src/csip/xml/documents.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { remoteClocks } from '../../../src/core/time/remote-clock.ts';
import type { RemoteClockMode } from '../../../src/core/time/remote-clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { testPlant } from '../../support/plant.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { FakeServer, origin, settled } from './fake-server.ts';

export const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';
export const remoteStartS = 1_800_000_000;

const derAt = (i: number): DerHrefs => ({
  capability: `${origin}/der/${i}/dercap`,
  settings: `${origin}/der/${i}/derg`,
  status: `${origin}/der/${i}/ders`,
  availability: `${origin}/der/${i}/dera`,
});

export function hrefsFor(devices: number, change: Partial<ReportHrefs> = {}): ReportHrefs {
  return {
    ders: Array.from({ length: devices }, (_, i) => derAt(i)),
    logEventList: `${origin}/lel`,
    mirrorUsagePointList: `${origin}/mup`,
    deviceInformation: `${origin}/di`,
    deviceStatus: `${origin}/dstat`,
    powerStatus: `${origin}/ps`,
    connectionPoint: `${origin}/cp`,
    postRateS: 300,
    ...change,
  };
}

export interface Rig {
  readonly plant: SimPlant;
  readonly server: FakeServer;
  readonly reporter: Reporter;
  readonly wall: HandWall;
  readonly timers: HandTimers;
  readonly lost: string[];
  /** runs ticks of 1.5 s, on both clocks */
  readonly run: (seconds: number) => Promise<void>;
}

interface RigOptions extends Partial<Pick<ReporterOptions, 'postRateS' | 'nmi' | 'readings' | 'mirrors'>> {
  readonly types?: readonly string[];
  readonly meter?: boolean;
  readonly mode?: RemoteClockMode;
  /** default 1 */
  readonly rate?: number;
}

const opened: Reporter[] = [];

export function rig({
  types = ['PV-3Phase'],
  meter = false,
  mode = 'simulated',
  rate = 1,
  ...change
}: RigOptions = {}): Rig {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const plant = testPlant({ types, wall, rate, ...(meter && { meter: { float: false } }) });
  const server = new FakeServer();
  const lost: string[] = [];
  const clock = remoteClocks({
    mode,
    wall,
    later: timers.later,
    log: silentLogger,
    timeline: {
      sim: () => plant.time.sim,
      dateMs: (t) => plant.dateMs(t),
      rate: () => plant.time.rate,
      paused: () => plant.time.mode === 'paused',
      at: (t, act) => plant.at(t, act),
    },
  })(silentLogger);
  clock.sync(remoteStartS * 1000, wall.monotonicMs());
  let nextId = 0;
  const reporter = new Reporter({
    logEventIds: { next: () => nextId++ },
    exchange: server,
    wall,
    later: timers.later,
    jitter: { next: () => 0.5 },
    log: silentLogger,
    onLost: (resource) => lost.push(resource),
    clock,
    plant,
    together: null,
    reports: plant.devices.map((device) =>
      createDeviceReports(device, new Set(['opModMaxLimW']), {
        revision: '2018',
        csipAus: null,
        lfdi,
        pen: 40_732,
        subscribes: false,
      }),
    ),
    lfdi,
    penDigits: '00009F1C',
    nmi: null,
    postRateS: null,
    readings: { flow: 'net', positive: 'import', device: true, site: true },
    ...change,
  });
  opened.push(reporter);
  const run = async (seconds: number) => {
    for (let tick = 0; tick < Math.round(seconds / 1.5); tick++) {
      await plant.step(1);
      timers.pass(1500);
      await settled();
    }
  };
  return { plant, server, reporter, wall, timers, lost, run };
}

/** values of the MirrorMeterReadings of a mirror's quantity, in the order in which they were posted */
export function valuesOf(server: FakeServer, mrid: string) {
  return server
    .sent('MirrorMeterReadingList')
    .flatMap(({ MirrorMeterReading = [] }) => MirrorMeterReading)
    .filter(({ mRID }) => mRID === mrid)
    .flatMap(({ MirrorReadingSet = [] }) => MirrorReadingSet)
    .map(({ timePeriod, Reading = [] }) => ({ ...timePeriod, value: Reading[0]?.value }));
}

export const named = (mirror: MirrorUsagePoint | undefined, description: string): MirrorMeterReading => {
  const found = mirror?.MirrorMeterReading?.find((reading) => reading.description === description);
  if (found === undefined) throw new Error(`no ${description}`);
  return found;
};

export const bodiesOf = (server: FakeServer) => server.requests.flatMap(({ body }) => (body ? [body.name] : []));

/** Ends the reporters of a test. */
export function stopReporters(): void {
  for (const reporter of opened.splice(0)) reporter.stop();
}
