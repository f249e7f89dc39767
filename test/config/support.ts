import { expect } from 'chai';
import { SimError } from '../../src/core/errors.ts';
import type { Issue } from '../../src/core/errors.ts';
import type { PvParameters } from '../../src/contract/kinds/pv.ts';
import type { BatteryParameters } from '../../src/contract/kinds/battery.ts';
import type { EvseParameters } from '../../src/contract/kinds/evse.ts';
import type { FuelCellParameters } from '../../src/contract/kinds/fuelcell.ts';
import type { HybridParameters } from '../../src/contract/kinds/hybrid.ts';
import type { SourceParameters } from '../../src/contract/kinds/table.ts';
import type { WindParameters } from '../../src/contract/kinds/wind.ts';
import type { AppConfig, DeviceConfig } from '../../src/config/settings/app-config.ts';
import type { ConfigIo } from '../../src/config/layers/files.ts';
import { loadConfig } from '../../src/config/layers/load.ts';

export interface Given {
  readonly env?: Record<string, string | undefined>;
  /** files by absolute path */
  readonly files?: Readonly<Record<string, string>>;
}

function ioOf(files: Readonly<Record<string, string>>): ConfigIo {
  return {
    cwd: '/site',
    readFile(path) {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error('missing'), { code: 'ENOENT' });
      return text;
    },
    isFile: (path) => path in files,
  };
}

export function run(argv: readonly string[], { env = {}, files = {} }: Given = {}): AppConfig {
  const result = loadConfig(argv, env, ioOf(files));
  if (result.kind !== 'run') throw new Error(`expected a run, got ${result.kind}`);
  return result.config;
}

export function errorOf(argv: readonly string[], { env = {}, files = {} }: Given = {}): SimError {
  try {
    loadConfig(argv, env, ioOf(files));
  } catch (error) {
    expect(error).to.be.instanceOf(SimError);
    expect((error as SimError).code).to.equal('CONFIG_INVALID');
    return error as SimError;
  }
  throw new Error('expected issues');
}

export function issuesOf(argv: readonly string[], given: Given = {}): readonly Issue[] {
  return errorOf(argv, given).issues;
}

/** `name: detail` of every issue. */
export function issueLines(argv: readonly string[], given: Given = {}): string[] {
  return issuesOf(argv, given).map((issue) => `${issue.name}: ${issue.detail}`);
}

/** Issues of a configuration file `/site/c.yaml`. */
export function fileIssues(text: string, files: Readonly<Record<string, string>> = {}): string[] {
  return issueLines(['--config', 'c.yaml'], { files: { '/site/c.yaml': text, ...files } });
}

/** The parts that the source of a device may have. */
export interface SourceParts {
  readonly kind: SourceParameters['kind'];
  readonly pv?: PvParameters;
  readonly battery?: BatteryParameters;
  readonly wind?: WindParameters;
  readonly fuelCell?: FuelCellParameters;
  readonly hybrid?: HybridParameters;
  readonly evse?: EvseParameters;
}

export function partsOf(device: DeviceConfig | undefined): SourceParts {
  if (!device) throw new Error('expected a device');
  return device.profile.source;
}

/** The array of a PV device or of a hybrid. */
export function pvOf(device: DeviceConfig | undefined): PvParameters {
  const { pv } = partsOf(device);
  if (!pv) throw new Error('expected a device with PV');
  return pv;
}
