import { expect } from 'chai';
import { SimError } from '../../src/core/errors.ts';
import type { Fault } from '../../src/core/errors.ts';
import type { AppConfig } from '../../src/config/app-config.ts';
import type { ConfigIo } from '../../src/config/files.ts';
import { loadConfig } from '../../src/config/load.ts';

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
  throw new Error('expected faults');
}

export function faultsOf(argv: readonly string[], given: Given = {}): readonly Fault[] {
  return errorOf(argv, given).faults;
}

/** `name: detail` of every fault. */
export function faultLines(argv: readonly string[], given: Given = {}): string[] {
  return faultsOf(argv, given).map((fault) => `${fault.name}: ${fault.detail}`);
}

/** Faults of a configuration file `/site/c.yaml`. */
export function fileFaults(text: string, files: Readonly<Record<string, string>> = {}): string[] {
  return faultLines(['--config', 'c.yaml'], { files: { '/site/c.yaml': text, ...files } });
}
