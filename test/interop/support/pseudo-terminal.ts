import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { createModbusRtuAdapter } from '../../../src/sunspec/modbus/rtu-bridge.ts';
import type { ModbusRtuAdapter } from '../../../src/sunspec/modbus/rtu-bridge.ts';
import { until } from '../../support/conformance/bed.ts';
import type { Line } from '../../support/conformance/bed.ts';
import { RawWire, SerialMaster } from '../../support/conformance/master.ts';
import { RawClient } from '../../support/modbus-client.ts';
import { cable, end, ends } from './cable.ts';

const settings = { baudRate: 115_200, parity: 'even', stopBits: 1 } as const;

/** All devices on serial ports of the machine, with real time on the line; each master has a pair of ports of its own. */
export const pseudoTerminal: Line = {
  name: 'a pseudo-terminal',
  framing: 'rtu',
  shared: true,
  serve(plant) {
    const plugged: { readonly adapter: ModbusRtuAdapter; readonly socat: ChildProcess; readonly directory: string }[] =
      [];
    async function plug(): Promise<string> {
      const directory = mkdtempSync(join(tmpdir(), 'derbench-line-'));
      const socat = await cable(directory);
      const [ours, theirs] = ends(directory);
      const adapter = createModbusRtuAdapter({ devices: plant.devices, line: { path: ours, ...settings } });
      plugged.push({ adapter, socat, directory });
      await adapter.start();
      return theirs;
    }
    const unreadable = () => plugged.reduce((sum, { adapter: { counters } }) => sum + counters.unreadable, 0);
    return {
      async stop() {
        for (const { adapter, socat, directory } of plugged) {
          await adapter.stop();
          await end(socat);
          rmSync(directory, { recursive: true });
        }
      },
      // no waiting: a frame must go on within the gap of the line, and that is real time
      begun: () => Promise.resolve(),
      breaking() {
        const before = unreadable();
        return () => until(() => unreadable() > before);
      },
      master: async (index) => SerialMaster.rtu(await plug(), 1 + index, settings),
      wire: async (index) =>
        new RawWire(RawClient.over(new ReadStream(openSync(await plug(), 'r+'))), 'rtu', 1 + index),
    };
  },
};
