import { expect } from 'chai';
import { SimError } from '../../src/core/errors.ts';
import { ask } from '../support/http.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { RawClient } from '../support/modbus-client.ts';
import { rtu, rtuRead } from '../support/rtu.ts';

describe('Modbus lines of the whole simulator', () => {
  let running: RunningApp | undefined;

  afterEach(async () => {
    await running?.app.stop();
    running = undefined;
  });

  it('RTU over TCP: REST and the start line show the addresses of the line', async () => {
    running = await startApp(['PV-3Phase', 'Batt-3Phase'], ['--mb_framing', 'rtu_over_tcp', '--mb_shared_port', 'yes']);
    const { port } = running;
    const { devices } = (await ask(port, '/api/sim/devices')).json;
    expect(devices.map(({ modbus }: { modbus: { unit_id: number } }) => modbus.unit_id)).to.deep.equal([1, 2]);
    expect((await ask(port, '/api/sim/nameplate?device=1')).json.identity.device_address).to.equal(2);
    const client = await RawClient.open(devices[1].modbus.port);
    client.send(rtuRead(2, 40_068, 1));
    expect((await client.take(7)).toString('hex')).to.equal(rtu(2, '0302' + '0002').toString('hex'));
    // the way out of two devices with one address
    const changed = await ask(port, '/api/sim/registers/1?device=1', { method: 'POST', body: { points: { DA: 44 } } });
    expect(changed.status).to.equal(200);
    client.send(rtuRead(44, 40_068, 1));
    expect((await client.take(7)).toString('hex')).to.equal(rtu(44, '0302' + '002c').toString('hex'));
    client.destroy();
  });

  for (const [path, reason] of [
    ['/dev/no-such-port', 'there is no such device'],
    ['/', 'it is not a serial port'],
    ['/dev/null', 'it is not a serial port'],
  ] as const) {
    it(`a serial port that cannot be opened (${path}) ends the start, with nothing left open`, async () => {
      const error: unknown = await startApp(['PV-3Phase'], ['-rtu', 'yes', '--rtu_port', path]).catch(
        (cause: unknown) => cause,
      );
      expect(error)
        .to.be.instanceOf(SimError)
        .and.to.include({ code: 'LISTEN_FAILED', message: `cannot open the serial port ${path}: ${reason}` });
    });
  }
});
