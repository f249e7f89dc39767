import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startSimulator } from '../../support/process.ts';
import type { RunningSimulator } from '../../support/process.ts';
import { cable, end, ends } from './cable.ts';
import { brokenRules } from './findings.ts';
import { PythonPeer } from './peers.ts';
import type { Peer } from './peers.ts';
import { PkiOnDisk } from './pki-on-disk.ts';

/** A simulator with pysunspec2 in front of it. */
export interface SunSpecLine {
  readonly simulator: RunningSimulator;
  readonly master: PythonPeer;
  /** Ends both. @param broken rules that a test makes the master break */
  stop(broken?: readonly string[]): Promise<void>;
}

/** A way to a device, and the programs that it takes. */
export interface LineKind {
  readonly name: string;
  readonly peers: readonly Peer[];
  /** @param flags of the simulator, beyond those of the line */
  open(flags: readonly string[]): Promise<SunSpecLine>;
}

/** @param target of the master: a port, or the path of a serial line */
async function opened(
  flags: readonly string[],
  target: (simulator: RunningSimulator) => number | string,
  more: readonly string[],
  cleanUp: () => unknown,
): Promise<SunSpecLine> {
  let simulator: RunningSimulator;
  try {
    simulator = await startSimulator(flags);
  } catch (error) {
    await cleanUp();
    throw error;
  }
  const master = new PythonPeer('sunspec_master', target(simulator), ...more);
  return {
    simulator,
    master,
    async stop(broken = []) {
      const rules = await brokenRules(simulator.httpPort);
      await master.stop();
      const code = await simulator.stop();
      await cleanUp();
      expect(code).to.equal(0);
      expect(rules).to.deep.equal(broken);
    },
  };
}

const modbusPort = (simulator: RunningSimulator) => simulator.modbusPort;

export const tcp: LineKind = {
  name: 'TCP',
  peers: ['pysunspec2'],
  open: (flags) => opened(flags, modbusPort, [], () => undefined),
};

const tls: LineKind = {
  name: 'TLS',
  peers: ['pysunspec2', 'openssl'],
  open(flags) {
    const pki = new PkiOnDisk();
    return opened([...pki.flags, ...flags], modbusPort, pki.client('superadmin'), () => {
      pki.remove();
    });
  },
};

const rtu: LineKind = {
  name: 'RTU',
  peers: ['pysunspec2', 'socat'],
  async open(flags) {
    const directory = mkdtempSync(join(tmpdir(), 'derbench-line-'));
    const socat = await cable(directory);
    const [ours, theirs] = ends(directory);
    return opened(
      ['-mb', 'no', '-rtu', 'yes', '--rtu_port', ours, '--rtu_baud', '115200', '--rtu_parity', 'E', ...flags],
      () => theirs,
      ['115200', 'E'],
      async () => {
        await end(socat);
        rmSync(directory, { recursive: true });
      },
    );
  },
};

export const lineKinds = [tcp, tls, rtu] as const;
