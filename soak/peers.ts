/** The servers of a soak: a central system of OCPP and a head-end of IEEE 2030.5, which outlive the simulator. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headEndOfFleet } from '../test/csip/head-end/fleet.ts';
import type { FleetHeadEnd } from '../test/csip/head-end/fleet.ts';
import type { Control } from '../test/csip/head-end/model.ts';
import { Central } from '../test/ocpp/central/central.ts';
import type { CentralStation } from '../test/ocpp/central/station.ts';
import { Books16 } from './books.ts';
import type { StartPayload, StopPayload } from './books.ts';
import type { FleetDevice, RemotePeers } from './fleet.ts';
import { pause } from './tally.ts';

/** States of the peers, as they go to the parent process. */
export interface PeersReport {
  readonly ocpp: {
    readonly connected: number;
    readonly frames: number;
    readonly transactions: number;
    readonly open: number;
    readonly energyWh: number;
  };
  readonly csip: {
    readonly requests: number;
    readonly refused: number;
    readonly responses: number;
    readonly controls: number;
    /** controls of which every device has answered its course */
    readonly complete: number;
  };
  readonly issues: readonly string[];
}

interface PeersOptions {
  readonly fleet: readonly FleetDevice[];
  /** a control begins so often, s */
  readonly controlEveryS: number;
  readonly controlDurationS: number;
  /** polls and posts, s */
  readonly pollS: number;
}

interface Parts {
  readonly central: Central;
  readonly fleetHeadEnd: FleetHeadEnd;
  readonly folder: string;
  readonly issues: string[];
}

/** Response.status of IEEE 2030.5: received, started, completed */
const course = [1, 2, 3] as const;
/** Status codes of a control that was not carried out. */
const isRefusal = (status: number) => status >= 250;
/** True for the statuses of a device that has answered a control to the end. */
const isWhole = (statuses: readonly number[]) =>
  statuses.some(isRefusal) || course.every((status) => statuses.includes(status));
const shownIssues = 100;
/** from a connection to the registration of the station */
const settleMs = 2000;

export class Peers {
  readonly #options: PeersOptions;
  readonly #central: Central;
  readonly #fleetHeadEnd: FleetHeadEnd;
  readonly #folder: string;
  readonly #books = new Map<string, Books16>();
  readonly #issues: string[];
  readonly #controls: Control[] = [];
  #timer: NodeJS.Timeout | null = null;

  private constructor(options: PeersOptions, { central, fleetHeadEnd, folder, issues }: Parts) {
    this.#options = options;
    this.#central = central;
    this.#fleetHeadEnd = fleetHeadEnd;
    this.#folder = folder;
    this.#issues = issues;
  }

  static async open(options: PeersOptions): Promise<Peers> {
    const folder = mkdtempSync(join(tmpdir(), 'derbench-soak-peers-'));
    const { pollS, fleet } = options;
    const rates = { dcap: pollS, time: pollS, endDevices: pollS, fsas: pollS, programs: pollS, ders: pollS };
    const reports = { mirrors: pollS, mirrorPost: pollS, endDevicePost: pollS };
    const head = await headEndOfFleet(folder, fleet.length, { ...rates, ...reports });
    const issues: string[] = [];
    const wrong = (text: string) => {
      issues.push(text.slice(0, 1000));
    };
    const central = await Central.open({ subprotocols: ['ocpp2.0.1', 'ocpp1.6'], wrong });
    const peers = new Peers(options, { central, fleetHeadEnd: head, folder, issues });
    for (const { kind, station } of fleet)
      if (station !== null) peers.#keepBooks(central.station(station), kind === 'EVSE 1.6');
    peers.#begin();
    return peers;
  }

  get addresses(): RemotePeers {
    return {
      csmsUrl: this.#central.url,
      headEndPort: this.#fleetHeadEnd.headEnd.port,
      certificates: this.#folder,
    };
  }

  #keepBooks(station: CentralStation, is16: boolean): void {
    if (is16) {
      const books = new Books16();
      this.#books.set(station.identity, books);
      station.answers['StartTransaction'] = (payload) => ({
        transactionId: books.start(payload as unknown as StartPayload),
        idTagInfo: { status: 'Accepted' },
      });
      station.answers['StopTransaction'] = (payload) => {
        books.stop(payload as unknown as StopPayload);
        return { idTagInfo: { status: 'Accepted' } };
      };
    }
    if (is16) void this.#configure(station);
  }

  /** Asks a station of 1.6 for a meter value each second, some time after each connection. */
  async #configure(station: CentralStation): Promise<void> {
    for (;;) {
      const { socket } = await station.nextConnection();
      await pause(settleMs);
      if (!station.connected || station.connection.socket !== socket) continue;
      const reply = await station.call('ChangeConfiguration', { key: 'MeterValueSampleInterval', value: '1' });
      if (reply.kind === 'error') this.#issues.push(`${station.identity}: ChangeConfiguration answers ${reply.code}`);
    }
  }

  #begin(): void {
    const { headEnd } = this.#fleetHeadEnd;
    const { controlEveryS, controlDurationS } = this.#options;
    const program = headEnd.program({ primacy: 5, default: { opModMaxLimW: 9000 } });
    const publish = () => {
      const modes = { opModMaxLimW: 5000 + 100 * (this.#controls.length % 40) };
      this.#controls.push(headEnd.control(program, { modes, inS: 1, durationS: controlDurationS }));
    };
    publish();
    this.#timer = setInterval(publish, 1000 * controlEveryS);
  }

  /** Ends the connections of one side. */
  cut(side: 'ocpp' | 'csip'): void {
    if (side === 'csip') this.#fleetHeadEnd.headEnd.hangUp();
    else for (const station of this.#central.stations) if (station.connected) station.cut();
  }

  /** Publishes no more controls. */
  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async close(): Promise<void> {
    this.end();
    await Promise.all([this.#central.close(), this.#fleetHeadEnd.headEnd.close()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** True if each device has answered that it has received, started and completed a control, or why it has not. */
  #isComplete({ mRID }: Control): boolean {
    const { headEnd, lfdis } = this.#fleetHeadEnd;
    return lfdis.every((lfdi) => isWhole(headEnd.statuses(mRID, lfdi)));
  }

  /** Responses that do not fit the course of their control: one before its time, or after the end of all. */
  #courseIssues(): readonly string[] {
    const { headEnd, lfdis } = this.#fleetHeadEnd;
    return this.#controls.flatMap(({ mRID, description }) =>
      lfdis.flatMap((lfdi, device) => {
        const statuses = headEnd.statuses(mRID, lfdi);
        const isOrdered = statuses.every((status, at) => at === 0 || status >= (statuses[at - 1] ?? 0));
        return isOrdered ? [] : [`${description} ${mRID}: device ${device} answers ${statuses.join(', ')}`];
      }),
    );
  }

  /**
   * Controls that ended at least so long ago and that a device has not answered to the end.
   * @param everyDevice false: a device that was off while it could have read a control owes no answer
   */
  incomplete(olderThanS: number, everyDevice: boolean): readonly string[] {
    const { headEnd, lfdis } = this.#fleetHeadEnd;
    const due = this.#controls.filter(({ startS, durationS }) => startS + durationS + olderThanS < headEnd.nowS);
    return due.flatMap(({ mRID }) => {
      const courses = lfdis.map((lfdi) => headEnd.statuses(mRID, lfdi));
      const isLacking = courses.some((statuses) => (everyDevice || statuses.length > 0) && !isWhole(statuses));
      if (!isLacking) return [];
      return [`control ${mRID}: the devices have answered ${courses.map((each) => each.join('+') || '-').join(' ')}`];
    });
  }

  /** True if no transaction is open and every station is connected. */
  get isSettled(): boolean {
    const { stations } = this.#central;
    return stations.every(({ connected }) => connected) && this.report().ocpp.open === 0;
  }

  report(): PeersReport {
    const { headEnd } = this.#fleetHeadEnd;
    const { stations } = this.#central;
    const books16 = [...this.#books.values()];
    const books2 = stations.flatMap(({ books }) => books.transactions);
    const bookIssues = [...this.#books].flatMap(([id, { issues }]) => issues.map((issue) => `${id}: ${issue}`));
    return {
      ocpp: {
        connected: stations.filter(({ connected }) => connected).length,
        frames: stations.reduce((sum, { frames }) => sum + frames.length, 0),
        transactions: books16.reduce((sum, { starts }) => sum + starts, 0) + books2.length,
        open: books16.reduce((sum, { open }) => sum + open, 0) + books2.filter(({ ended }) => !ended).length,
        energyWh: books16.reduce((sum, { energyWh }) => sum + energyWh, 0),
      },
      csip: {
        requests: headEnd.requests.length,
        refused: headEnd.requests.filter(({ status }) => status >= 400).length,
        responses: headEnd.responses.length,
        controls: this.#controls.length,
        complete: this.#controls.filter((control) => this.#isComplete(control)).length,
      },
      issues: [...this.#issues, ...bookIssues, ...this.#courseIssues()].slice(0, shownIssues),
    };
  }
}
