/** dertwin: an independent simulator of DERs with its own physics; files define its registers. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelChoice } from '../../../src/sunspec/map/layout.ts';
import type { ModelDef } from '../../../src/sunspec/map/types.ts';
import { m1 } from '../../../src/sunspec/models/m001.ts';
import { m103 } from '../../../src/sunspec/models/m103.ts';
import { m120 } from '../../../src/sunspec/models/m120.ts';
import { m123 } from '../../../src/sunspec/models/m123.ts';
import { imageOf } from '../../support/foreign-map.ts';
import { settled } from '../../support/handles.ts';
import { freePorts } from '../../support/ports.ts';
import { end } from './cable.ts';
import { PythonPeer, dertwinEnvironment, python } from './peers.ts';

export const ratedW = 4000;
const startLimitMs = 20_000;
/** registers of one write */
const maxWritten = 123;

/** A model of which a device has these points only. */
function only(def: ModelDef, points: readonly string[], scale: Readonly<Record<string, number>> = {}): ModelChoice {
  const kept = new Set(['ID', 'L', ...points, ...Object.keys(scale)]);
  return { def, scale, omit: new Set(def.points.map(({ name }) => name).filter((name) => !kept.has(name))) };
}

/** The registers that dertwin does not fill by itself: marker, headers, texts, ratings, scale factors. */
const { layout, image } = imageOf(
  [
    { def: m1 },
    only(m103, ['W', 'Hz', 'DCW', 'TmpCab', 'PhVphA', 'PhVphB', 'PhVphC'], {
      V_SF: -1,
      W_SF: 0,
      Hz_SF: -2,
      DCW_SF: 0,
      Tmp_SF: -1,
    }),
    only(m120, ['DERTyp', 'WRtg'], { WRtg_SF: 1 }),
    only(m123, ['Conn', 'WMaxLimPct', 'WMaxLim_Ena', 'OutPFSet'], { WMaxLimPct_SF: 0, OutPFSet_SF: -2 }),
  ],
  {
    '1.Mn': 'dertwin',
    '1.Md': 'inverter',
    '1.Vr': '0.1.12',
    '1.SN': 'T-1',
    '120.DERTyp': 'PV',
    '120.WRtg': ratedW,
    '123.Conn': 'CONNECT',
    '123.WMaxLimPct': 100,
    '123.WMaxLim_Ena': 'DISABLED',
    '123.OutPFSet': 1,
  },
);

/** A SunSpec point, its name in dertwin, and the value of one step of the register there. */
const telemetry: readonly (readonly [point: string, name: string, scale: number])[] = [
  ['103.W', 'total_active_power', 0.001],
  ['103.Hz', 'grid_frequency', 0.01],
  ['103.DCW', 'total_input_power', 0.001],
  ['103.TmpCab', 'temp_inverter', 0.1],
  ['103.PhVphA', 'phase_neutral_voltage_1', 0.1],
  ['103.PhVphB', 'phase_neutral_voltage_2', 0.1],
  ['103.PhVphC', 'phase_neutral_voltage_3', 0.1],
];
const commands: typeof telemetry = [
  ['123.WMaxLimPct', 'active_power_rate', 1],
  ['123.Conn', 'remote_on_off', 1],
  ['123.OutPFSet', 'power_factor_setpoint', 0.01],
];

function registerOf([point, name, scale]: (typeof telemetry)[number], direction: 'read' | 'write'): object {
  const dot = point.indexOf('.');
  const slot = layout.slot(Number(point.slice(0, dot)), point.slice(dot + 1));
  if (!slot) throw new Error(`no point ${point}`);
  return {
    name,
    internal_name: name,
    address: slot.address,
    func: 3,
    direction,
    type: slot.def.type === 'int16' ? 'int16' : 'uint16',
    count: 1,
    scale,
  };
}

/** A PV inverter at noon with more sun than it can use. */
function siteAt(port: number, registerMap: string): object {
  return {
    site_name: 'interop',
    step: 0.1,
    real_time: true,
    start_time_h: 12,
    external_models: {
      irradiance: { peak: 1000 },
      grid_frequency: { nominal_hz: 50 },
      grid_voltage: { nominal_voltage_ll: 400 },
    },
    assets: [
      {
        type: 'inverter',
        rated_kw: ratedW / 1000,
        area_m2: ratedW / 100,
        protocols: [{ kind: 'modbus_tcp', ip: '127.0.0.1', port, unit_id: 1, register_map: registerMap }],
      },
    ],
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Writes the registers through another master, as in commissioning. */
async function commission(port: number): Promise<void> {
  const master = new PythonPeer('modbus_master', port);
  const words = Array.from({ length: image.length / 2 }, (_, i) => image.readUInt16BE(i * 2));
  for (let from = 0; from < words.length; from += maxWritten) {
    await master.ask('write_many', { address: layout.base + from, values: words.slice(from, from + maxWritten) });
  }
  await master.stop();
}

export class Dertwin {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #directory: string;

  private constructor(port: number, child: ChildProcess, directory: string) {
    this.port = port;
    this.#child = child;
    this.#directory = directory;
  }

  /** The program with a site of one inverter, whose map has models 1, 103, 120 and 123. */
  static async start(): Promise<Dertwin> {
    const directory = mkdtempSync(join(tmpdir(), 'derbench-dertwin-'));
    const [config, map] = [join(directory, 'site.json'), join(directory, 'map.yaml')];
    const port = await freePorts(1);
    // JSON is YAML
    writeFileSync(
      map,
      JSON.stringify({
        registers: [
          ...telemetry.map((each) => registerOf(each, 'read')),
          ...commands.map((each) => registerOf(each, 'write')),
        ],
      }),
    );
    writeFileSync(config, JSON.stringify(siteAt(port, map)));
    const child = spawn(python, ['-B', '-m', 'dertwin.main', '-c', config], {
      env: dertwinEnvironment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaints += chunk.toString();
    });
    const limitMs = performance.now() + startLimitMs;
    while (!(await accepts(port))) {
      if (child.exitCode !== null || performance.now() > limitMs)
        throw new Error(`dertwin did not start: ${complaints}`);
      await settled();
    }
    await commission(port);
    return new Dertwin(port, child, directory);
  }

  async stop(): Promise<void> {
    await end(this.#child);
    rmSync(this.#directory, { recursive: true });
  }
}
