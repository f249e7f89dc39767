/** Clients of the REST interface: reads, commands whose effect must survive a restart, and charging sessions. */
import type { RandomStream } from '../../src/core/random.ts';
import type { FleetDevice } from '../fleet.ts';
import type { Promised, Promises } from '../promises.ts';
import type { Gate, Tally } from '../tally.ts';
import { pause, textOf } from '../tally.ts';
import { call, get, post } from './rest-call.ts';

const reads = [
  'overview',
  'devices',
  'controls',
  'controls/holds',
  'controls/grid',
  'controls/environment',
  'grid-support',
  'registers/702',
  'registers/changes',
  'history?metrics=power_kw,voltage_ln_v&limit=50',
  'site',
  'metrics',
  'logs?limit=50',
  'csip-client',
  'csip/controls',
  'ocpp',
  'dnp3',
  'modbus',
  'stream/clients',
  'consistency',
] as const;

/** A request that was answered with a problem: nothing has changed. */
class Refused extends Error {}

export interface RestClientOptions {
  readonly gate: Gate;
  readonly tally: Tally;
  readonly random: RandomStream;
  readonly promises: Promises;
  /** a PV device */
  readonly pv: number;
}

/** Requests of one client, one after the other. */
export class RestClient {
  readonly #options: RestClientOptions;
  #hold: string | null = null;
  #holds = 0;

  constructor(options: RestClientOptions) {
    this.#options = options;
  }

  /** Sends requests at a rate while the simulator is up. */
  async run(ratePerS: number, commandShare = 0.3): Promise<void> {
    const { gate, tally, random } = this.#options;
    while (!gate.isEnded) {
      const { http } = await gate.open();
      const { life } = gate;
      const beginMs = performance.now();
      try {
        tally.add('requests');
        if (random.next() < commandShare) await this.command(http);
        else await get(http, reads[Math.floor(random.next() * reads.length)] ?? 'overview');
        tally.answered(performance.now() - beginMs);
      } catch (error) {
        // the port of an earlier life may belong to another process by now
        if (life === gate.life) tally.error(textOf(error));
      }
      await pause(Math.max(0, 1000 / ratePerS - (performance.now() - beginMs)));
    }
  }

  /** One command by chance. @throws Error when it is refused, or its answer is lost */
  async command(http: number): Promise<void> {
    const { random, pv } = this.#options;
    const steps = (count: number) => Math.floor(random.next() * count);
    switch (steps(5)) {
      case 0:
        await post(http, 'controls/environment', { irradiance_w_m2: 200 + steps(800) });
        return;
      case 1: {
        const kw = 1000 + steps(1000);
        await this.#change('site.export_limit_kw', kw, http, 'site', { export_limit_kw: kw });
        return;
      }
      case 2: {
        const pu = (98 + steps(5)) / 100;
        await this.#change('grid.voltage_a_pu', pu, http, 'controls/grid', { voltage_pu: pu });
        return;
      }
      case 3: {
        const pct = steps(40);
        const path = `grid-support/constant-var?device=${pv}`;
        await this.#change('constant_var.var_pct', pct, http, path, { enabled: true, var_pct: pct });
        return;
      }
      default:
        await this.#hand(http);
    }
  }

  /** Ends the hold of before and begins another one. */
  async #hand(http: number): Promise<void> {
    const { random, pv } = this.#options;
    const hold = this.#hold;
    this.#hold = null;
    if (hold !== null) await this.#change(`hold ${hold}`, false, http, `controls/holds/${hold}/end?device=${pv}`, {});
    const id = `soak-${(this.#holds += 1)}`;
    const values = { '704.WMaxLimPct': 50 + Math.floor(50 * random.next()), '704.WMaxLimPctEna': 'ENABLED' };
    await this.#change(`hold ${id}`, true, http, `controls/holds?device=${pv}`, { id, values, duration_s: 86_400 });
    this.#hold = id;
  }

  #change(key: string, value: Promised, http: number, path: string, body: object): Promise<void> {
    const work = async () => {
      const { status, text } = await call(http, path, body);
      if (status > 299) throw new Refused(`POST ${path} ${JSON.stringify(body)}: ${status} ${text}`);
      this.#options.tally.add('promises');
    };
    return this.#options.promises.change(key, value, work, (error) => error instanceof Refused);
  }

  /** Values after a restart that differ from those promised. */
  async issues(http: number): Promise<readonly string[]> {
    const { pv, promises } = this.#options;
    const [site, grid, { holds }, { var_pct: varPct }] = await Promise.all([
      get(http, 'site'),
      get(http, 'controls/grid'),
      get(http, `controls/holds?device=${pv}`),
      get(http, `grid-support/constant-var?device=${pv}`),
    ]);
    const lasting = new Set(
      (holds as readonly { id: string; state: string }[]).filter(({ state }) => state !== 'ended').map(({ id }) => id),
    );
    const values = new Map<string, Promised>([
      ['site.export_limit_kw', site.export_limit_kw],
      ['grid.voltage_a_pu', grid.voltage_a_pu],
      ['constant_var.var_pct', varPct],
    ]);
    const issues = promises.keys.flatMap((key) => {
      const value = key.startsWith('hold ') ? lasting.has(key.slice('hold '.length)) : values.get(key);
      return value === undefined ? [] : [promises.check(key, value)];
    });
    this.#hold = [...lasting].find((id) => id.startsWith('soak-')) ?? null;
    return issues.filter((issue) => issue !== null);
  }
}

export interface SessionOptions {
  readonly gate: Gate;
  readonly tally: Tally;
  readonly random: RandomStream;
  /** bounds of the time that a vehicle stays, ms */
  readonly stayMs: readonly [low: number, high: number];
}

/** A vehicle that comes and goes at one charging station, whatever a restart has left there. */
export async function visits({ station, index }: FleetDevice, options: SessionOptions): Promise<void> {
  const { gate, tally, random, stayMs } = options;
  const [low, high] = stayMs;
  const connector = `evse/${String(station)}/connectors/1`;
  while (!gate.isEnded) {
    const { http } = await gate.open();
    const { life } = gate;
    try {
      const { cable } = await get(http, connector);
      const isPlugged = cable.ev_plugged === true || cable.evse_plugged === true;
      if (gate.isLeaving && !isPlugged) {
        await pause(high);
        continue;
      }
      await post(http, `${connector}/${isPlugged ? 'unplug' : 'plug'}`, isPlugged ? {} : { ev: { soc_pct: 20 } });
      tally.add(isPlugged ? 'departures' : 'arrivals');
    } catch (error) {
      // a restart between the two requests may change the state of the connector
      if (life === gate.life) tally.error(`device ${index}: ${textOf(error)}`);
    }
    await pause(low + (high - low) * random.next());
  }
}
