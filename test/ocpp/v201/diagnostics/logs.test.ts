import { expect } from 'chai';
import type { Requests } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { createLogs } from '../../../../src/ocpp/v201/diagnostics.ts';
import type { LogLine } from '../../../../src/ocpp/v201/diagnostics.ts';
import { settled } from '../../v16/fakes.ts';
import { handTransfer } from '../../v16/firmware-management/rig.ts';
import { rig } from '../rig.ts';

const location = 'http://files.test/logs/';

function logsOn({ version = 'ocpp2.1' }: { readonly version?: Version2 } = {}) {
  const s = rig({ version });
  const files = handTransfer();
  const startMs = s.wall.nowMs();
  const lines: readonly LogLine[] = [0, 10, 20].map((second) => ({
    atMs: startMs + second * 1000,
    text: `line ${second}`,
  }));
  const entries = [
    { atMs: startMs, type: 'StartupOfTheDevice', techInfo: null },
    { atMs: startMs + 5000, type: 'ResetOrReboot', techInfo: 'why' },
  ];
  const part = createLogs(s.parts, { transfer: files.transfer, securityLog: { entries }, readLog: () => lines });
  const told = () => s.line.of('LogStatusNotification') as unknown as readonly Requests['LogStatusNotification'][];
  return {
    ...s,
    ...files,
    part,
    told,
    at: (seconds: number) => new Date(startMs + seconds * 1000).toISOString(),
    statuses: () =>
      told().map(({ status, requestId }) => (requestId === undefined ? status : `${status} ${requestId}`)),
    async log(
      requestId: number,
      more: Partial<Requests['GetLog']['log']> = {},
      logType: Requests['GetLog']['logType'] = 'DiagnosticsLog',
      retries = 0,
    ) {
      const log = { remoteLocation: location, ...more };
      const reply = await s.ask(part, 'GetLog', { requestId, logType, retries, retryInterval: 5, log });
      await settled();
      return reply;
    },
    async triggered() {
      part.triggers?.LogStatusNotification?.(undefined);
      await settled();
      return told().at(-1);
    },
  };
}

describe('OCPP 2.x GetLog (N01)', () => {
  it('DiagnosticsLog: the name of the file, Uploading, and Uploaded once it is there', async () => {
    const s = logsOn();
    const reply = await s.log(4);
    expect(reply).to.deep.equal({ status: 'Accepted', filename: 'diagnostics-CS-1-2026-06-21T080000000Z.log' });
    expect([s.statuses(), s.uploads.map((upload) => upload.location)]).to.deep.equal([['Uploading 4'], [location]]);
    const { name, octets } = await s.take();
    expect(name).to.equal(reply.filename);
    expect(octets.toString()).to.match(/^2026-06-21T08:00:00\.000Z line 0\n[^]+line 20\n$/);
    expect(s.statuses()).to.deep.equal(['Uploading 4', 'Uploaded 4']);
  });

  it('SecurityLog: every security event with its time', async () => {
    const s = logsOn();
    expect((await s.log(1, {}, 'SecurityLog')).filename).to.match(/^security-CS-1-/);
    const { octets } = await s.take();
    expect(octets.toString()).to.equal(
      '2026-06-21T08:00:00.000Z StartupOfTheDevice\n2026-06-21T08:00:05.000Z ResetOrReboot "why"\n',
    );
  });

  it('the span of the request, by the time of the central system', async () => {
    const s = logsOn();
    s.clock.sync(s.wall.nowMs() + 3_600_000, s.wall.monotonicMs());
    await s.log(1, { oldestTimestamp: s.at(3_605), latestTimestamp: s.at(3_615) });
    expect((await s.take()).octets.toString()).to.equal('2026-06-21T09:00:10.000Z line 10\n');
  });

  it('Rejected with its reason, and without a status: nothing in the span, no URL, DataCollectorLog', async () => {
    const s = logsOn();
    const replies = [
      await s.log(1, { oldestTimestamp: s.at(30) }),
      await s.log(2, { remoteLocation: 'nowhere' }),
      await s.log(3, {}, 'DataCollectorLog'),
    ];
    expect(replies.map(({ status, statusInfo }) => [status, statusInfo?.reasonCode])).to.deep.equal([
      ['Rejected', 'NotFound'],
      ['Rejected', 'InvalidURL'],
      ['Rejected', 'UnsupportedParam'],
    ]);
    expect([s.uploads, s.line.calls]).to.deep.equal([[], []]);
  });

  const failures = [
    ['broken', 'UploadFailure'],
    ['permission', 'PermissionDenied'],
    ['bad_message', 'BadMessage'],
    ['unsupported', 'NotSupportedOperation'],
  ] as const;
  for (const [failure, status] of failures)
    it(`${status} for a transfer that ends with ${failure}; in 2.1 with the reason`, async () => {
      for (const version of ['ocpp2.0.1', 'ocpp2.1'] as const) {
        const s = logsOn({ version });
        await s.log(1);
        await s.fail(failure);
        expect(s.statuses()).to.deep.equal(['Uploading 1', `${status} 1`]);
        const info = { reasonCode: 'Unspecified', additionalInfo: 'the server answers 500' };
        expect(s.told().at(-1)?.statusInfo).to.deep.equal(version === 'ocpp2.1' ? info : undefined);
      }
    });

  it('retries with their interval', async () => {
    const s = logsOn();
    await s.log(1, {}, 'DiagnosticsLog', 1);
    await s.fail();
    expect(s.statuses()).to.deep.equal(['Uploading 1']);
    await s.pass(5);
    await s.take();
    expect(s.statuses()).to.deep.equal(['Uploading 1', 'Uploaded 1']);
  });

  it('AcceptedCanceled: a new request ends the upload under way, which says so with its own requestId', async () => {
    const s = logsOn();
    await s.log(1);
    expect((await s.log(2, {}, 'SecurityLog')).status).to.equal('AcceptedCanceled');
    expect(s.uploads).to.have.lengthOf(1);
    await s.take();
    expect(s.statuses()).to.deep.equal(['Uploading 1', 'AcceptedCanceled 1', 'Uploading 2', 'Uploaded 2']);
    expect((await s.log(3)).status).to.equal('Accepted');
  });

  it('a trigger tells Uploading with the requestId, or Idle without', async () => {
    const s = logsOn();
    expect(await s.triggered()).to.deep.equal({ status: 'Idle' });
    await s.log(9);
    expect(await s.triggered()).to.deep.equal({ status: 'Uploading', requestId: 9 });
    await s.take();
    expect(await s.triggered()).to.deep.equal({ status: 'Idle' });
  });

  it('stop ends the upload and tells nothing more', async () => {
    const s = logsOn();
    await s.log(1, {}, 'DiagnosticsLog', 1);
    await s.fail();
    s.part.stop?.();
    await s.pass(100);
    expect([s.statuses(), s.timers.waiting]).to.deep.equal([['Uploading 1'], 0]);
  });
});
