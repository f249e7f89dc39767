import { expect } from 'chai';
import { createSunSpecClient } from '../../../src/sunspec/client/client.ts';
import { failureOf } from '../../support/client.ts';

describe('SunSpec client: paths of serial lines', () => {
  const client = createSunSpecClient();
  after(() => client.stop());

  it('opens serial lines only, no files', async () => {
    for (const path of [
      '/etc/passwd',
      '/dev/mem',
      '/dev/tty',
      '/dev/tty1',
      '/dev/watchdog',
      '/dev/ttyprintk',
      '/dev/ttyS',
      '/dev/pts/3',
      '/dev/pts/ptmx',
      '/dev/tty/../mem',
      '../dev/ttyS0',
      '/dev/ttyS0\n',
      '/dev/serial/by-id/../../mem',
      'COM1234',
    ]) {
      const failure = await failureOf(
        client.connect({
          transport: 'rtu',
          serial: { path, baud: 9600, parity: 'N', stopBits: 1 },
          unitId: 1,
          timeoutMs: 100,
          baseAddress: null,
        }),
      );
      expect(failure.code, path).to.equal('COMMAND_BAD_VALUE');
    }
    const missing = await failureOf(
      client.connect({
        transport: 'rtu',
        serial: { path: '/dev/ttyUSB9999', baud: 9600, parity: 'N', stopBits: 1 },
        unitId: 1,
        timeoutMs: 100,
        baseAddress: null,
      }),
    );
    expect(missing).to.include({
      code: 'PEER_ERROR',
      message: 'cannot open serial:/dev/ttyUSB9999: there is no such device',
    });
  });

  it('opens pseudo terminals only when it is told to, since shells have such names', async () => {
    const pty = (number: string) => ({
      transport: 'rtu' as const,
      serial: { path: `/dev/pts/${number}`, baud: 9600, parity: 'N' as const, stopBits: 1 as const },
      unitId: 1,
      timeoutMs: 100,
      baseAddress: null,
    });
    const refused = await failureOf(client.connect(pty('9999')));
    expect(refused.code).to.equal('COMMAND_BAD_VALUE');
    expect(refused.message).to.contain('--client_pty yes');
    const permitted = createSunSpecClient({ ptys: true });
    expect((await failureOf(permitted.connect(pty('9999')))).message).to.equal(
      'cannot open serial:/dev/pts/9999: there is no such device',
    );
    expect((await failureOf(permitted.connect(pty('3/../../mem')))).code).to.equal('COMMAND_BAD_VALUE');
    await permitted.stop();
  });
});
