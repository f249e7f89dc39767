import { expect } from 'chai';
import { createFileTransfer } from '../../../../src/ocpp/files/transfer.ts';
import type { Requests } from '../../../../src/ocpp/v16/parts.ts';
import type { SecurityLogEntry } from '../../../../src/ocpp/v16/security.ts';
import { createLogs } from '../../../../src/ocpp/v16/diagnostics.ts';
import type { LogLine, LogsDeps } from '../../../../src/ocpp/v16/diagnostics.ts';
import { fileServer } from '../../files/servers.ts';
import { settled } from '../fakes.ts';
import { expectFits, handTransfer, upkeepRig } from '../firmware-management/rig.ts';

const diagnosticsAction = 'DiagnosticsStatusNotification';
const logAction = 'LogStatusNotification';
const location = 'http://files.test/logs/';

interface Given extends Partial<Pick<LogsDeps, 'transfer'>> {
  /** by the second after the start; wall time */
  readonly lines?: readonly number[];
  readonly accepted?: boolean;
}

async function logsOn({ lines = [0, 10, 20], transfer, accepted = true }: Given = {}) {
  const s = upkeepRig();
  const files = handTransfer();
  const startMs = s.wall.nowMs();
  const entries: SecurityLogEntry[] = [];
  const kept: readonly LogLine[] = lines.map((second) => ({ atMs: startMs + second * 1000, text: `line ${second}` }));
  const part = createLogs(s.parts, {
    transfer: transfer ?? files.transfer,
    securityLog: { entries },
    readLog: () => kept,
  });
  if (accepted) await s.accept();
  const at = (seconds: number) => new Date(startMs + seconds * 1000).toISOString();
  return {
    ...s,
    ...files,
    part,
    entries,
    startMs,
    at,
    async diagnostics(more: Partial<Requests['GetDiagnostics']> = {}) {
      const request = { location, retries: 0, ...more };
      expectFits('GetDiagnostics', 'request', request);
      const reply = await part.handlers.GetDiagnostics?.(request, s.after);
      expectFits('GetDiagnostics', 'reply', reply);
      await s.answered();
      return reply;
    },
    async log(
      requestId: number,
      more: Partial<Requests['GetLog']['log']> = {},
      logType: 'DiagnosticsLog' | 'SecurityLog' = 'DiagnosticsLog',
    ) {
      const request = { requestId, logType, retries: 0, log: { remoteLocation: location, ...more } };
      expectFits('GetLog', 'request', request);
      const reply = await part.handlers.GetLog?.(request, s.after);
      expectFits('GetLog', 'reply', reply);
      await s.answered();
      return reply;
    },
  };
}

describe('OCPP 1.6 GetDiagnostics (5.9)', () => {
  it('answers with the name of the file, then Uploading and Uploaded', async () => {
    const s = await logsOn();
    const reply = await s.diagnostics();
    expect(reply?.fileName).to.equal('diagnostics-CP-1-2026-06-21T080000000Z.log');
    expect(s.statuses(diagnosticsAction)).to.deep.equal(['Uploading']);
    expect(s.uploads.map((upload) => upload.location)).to.deep.equal([location]);
    const { name, octets } = await s.take();
    expect(name).to.equal(reply?.fileName);
    expect(octets.toString()).to.equal(
      '2026-06-21T08:00:00.000Z line 0\n2026-06-21T08:00:10.000Z line 10\n2026-06-21T08:00:20.000Z line 20\n',
    );
    expect(s.statuses(diagnosticsAction)).to.deep.equal(['Uploading', 'Uploaded']);
  });

  it('the answer goes first', async () => {
    const s = await logsOn();
    await s.part.handlers.GetDiagnostics?.({ location }, s.after);
    await settled();
    expect([s.uploads, s.line.calls]).to.deep.equal([[], []]);
  });

  const spans: readonly (readonly [from: number | null, to: number | null, lines: readonly number[]])[] = [
    [null, null, [0, 10, 20]],
    [10, null, [10, 20]],
    [null, 10, [0, 10]],
    [5, 15, [10]],
  ];
  for (const [from, to, lines] of spans)
    it(`from ${from ?? 'the start'} to ${to ?? 'the end'}: lines ${lines.join(', ')}`, async () => {
      const s = await logsOn();
      await s.diagnostics({
        ...(from !== null && { startTime: s.at(from) }),
        ...(to !== null && { stopTime: s.at(to) }),
      });
      const { octets } = await s.take();
      expect(octets.toString().match(/line \d+/g)).to.deep.equal(lines.map((each) => `line ${each}`));
    });

  it('time and span are those of the central system', async () => {
    const s = await logsOn();
    s.clock.sync(s.wall.nowMs() + 3_600_000, s.wall.monotonicMs());
    await s.diagnostics({ startTime: s.at(3_605), stopTime: s.at(3_615) });
    expect((await s.take()).octets.toString()).to.equal('2026-06-21T09:00:10.000Z line 10\n');
  });

  it('nothing to upload: no fileName, and no report', async () => {
    const s = await logsOn();
    expect(await s.diagnostics({ startTime: s.at(30) })).to.deep.equal({});
    expect(await s.diagnostics({ startTime: s.at(20), stopTime: s.at(0) })).to.deep.equal({});
    expect([s.uploads, s.line.calls]).to.deep.equal([[], []]);
  });

  it('retries and retryInterval, then UploadFailed', async () => {
    const s = await logsOn();
    await s.diagnostics({ retries: 1, retryInterval: 15 });
    await s.fail();
    await s.pass(14);
    expect(s.uploads).to.have.lengthOf(0);
    await s.pass(1);
    await s.fail();
    expect(s.statuses(diagnosticsAction)).to.deep.equal(['Uploading', 'UploadFailed']);
    expect(s.timers.waiting).to.equal(0);
  });

  for (const failure of ['bad_location', 'unsupported', 'permission', 'bad_message', 'too_large', 'broken'] as const)
    it(`${failure}: UploadFailed`, async () => {
      const s = await logsOn();
      await s.diagnostics();
      await s.fail(failure);
      expect(s.statuses(diagnosticsAction)).to.deep.equal(['Uploading', 'UploadFailed']);
    });

  it('a newer one takes the place of the one before, which has failed', async () => {
    const s = await logsOn();
    await s.diagnostics();
    await s.diagnostics({ location: 'http://files.test/other/' });
    expect(s.uploads.map((upload) => upload.location)).to.deep.equal(['http://files.test/other/']);
    await s.take();
    expect(s.statuses(diagnosticsAction)).to.deep.equal(['Uploading', 'UploadFailed', 'Uploading', 'Uploaded']);
  });

  it('reports wait for the next connection', async () => {
    const s = await logsOn();
    await s.diagnostics();
    s.lose();
    await s.take();
    expect(s.statuses(diagnosticsAction)).to.deep.equal(['Uploading']);
    await s.accept();
    expect(s.statuses(diagnosticsAction)).to.deep.equal(['Uploading', 'Uploaded']);
  });

  it('a trigger: Uploading while it is, Idle otherwise (5.17)', async () => {
    const s = await logsOn();
    s.part.reportDiagnostics();
    await s.diagnostics();
    s.part.reportDiagnostics();
    await s.take();
    s.part.reportDiagnostics();
    expect(s.statuses(diagnosticsAction)).to.deep.equal(['Idle', 'Uploading', 'Uploading', 'Uploaded', 'Idle']);
  });

  it('no user, password or query of the location is logged, also when it fails', async () => {
    const s = await logsOn();
    await s.diagnostics({ location: 'http://u:S3CR3T-marker@files.test/logs?k=S3CR3T-marker' });
    await s.fail();
    expect(s.logged).to.have.lengthOf(2);
    expect(s.logged.join('\n')).to.include('http://files.test/logs').and.not.include('S3CR3T');
  });
});

describe('OCPP 1.6 GetLog (white paper, N01)', () => {
  it('DiagnosticsLog: Accepted with the file name, then the reports with the requestId', async () => {
    const s = await logsOn();
    const filename = 'diagnostics-CP-1-2026-06-21T080000000Z.log';
    expect(await s.log(4, { oldestTimestamp: s.at(10), latestTimestamp: s.at(15) })).to.deep.equal({
      status: 'Accepted',
      filename,
    });
    const file = await s.take();
    expect([file.name, file.octets.toString()]).to.deep.equal([filename, '2026-06-21T08:00:10.000Z line 10\n']);
    expect(s.statuses(logAction)).to.deep.equal(['Uploading 4', 'Uploaded 4']);
    expect(s.told(diagnosticsAction)).to.deep.equal([]);
  });

  it('SecurityLog: the events, critical or not; techInfo cannot forge a line', async () => {
    const s = await logsOn();
    s.entries.push(
      { atMs: s.startMs, type: 'StartupOfTheDevice', techInfo: null },
      { atMs: s.startMs + 5000, type: 'InvalidMessages', techInfo: 'a\n"b"' },
      { atMs: s.startMs + 9000, type: 'ResetOrReboot', techInfo: 'late' },
    );
    const reply = await s.log(1, { latestTimestamp: s.at(5) }, 'SecurityLog');
    expect(reply?.filename).to.match(/^security-CP-1-/);
    expect((await s.take()).octets.toString()).to.equal(
      '2026-06-21T08:00:00.000Z StartupOfTheDevice\n2026-06-21T08:00:05.000Z InvalidMessages "a\\n\\"b\\""\n',
    );
  });

  it('nothing to upload: Rejected', async () => {
    const s = await logsOn();
    expect(await s.log(1, {}, 'SecurityLog')).to.deep.equal({ status: 'Rejected' });
    expect(await s.log(1, { oldestTimestamp: s.at(30) })).to.deep.equal({ status: 'Rejected' });
    expect(s.line.calls).to.deep.equal([]);
  });

  const failures = [
    ['permission', 'PermissionDenied'],
    ['bad_message', 'BadMessage'],
    ['unsupported', 'NotSupportedOperation'],
    ['bad_location', 'UploadFailure'],
    ['too_large', 'UploadFailure'],
    ['broken', 'UploadFailure'],
  ] as const;
  for (const [failure, status] of failures)
    it(`${failure}: ${status}`, async () => {
      const s = await logsOn();
      await s.log(2);
      await s.fail(failure);
      expect(s.statuses(logAction)).to.deep.equal(['Uploading 2', `${status} 2`]);
    });

  it('an error of another kind: UploadFailure', async () => {
    const s = await logsOn();
    await s.log(2);
    s.uploads[0]?.fail(new Error('what is this'));
    await settled();
    expect(s.statuses(logAction).at(-1)).to.equal('UploadFailure 2');
  });

  it('AcceptedCanceled: a running upload gives way, and is reported as failed with its own requestId', async () => {
    const s = await logsOn();
    await s.log(1);
    expect((await s.log(2))?.status).to.equal('AcceptedCanceled');
    expect(s.uploads).to.have.lengthOf(1);
    await s.take();
    expect(s.statuses(logAction)).to.deep.equal(['Uploading 1', 'UploadFailure 1', 'Uploading 2', 'Uploaded 2']);
    expect((await s.log(3))?.status).to.equal('Accepted');
  });

  it('uploads of GetDiagnostics and GetLog go side by side', async () => {
    const s = await logsOn();
    await s.diagnostics();
    expect((await s.log(1))?.status).to.equal('Accepted');
    expect(s.uploads).to.have.lengthOf(2);
  });

  it('a trigger: Uploading with the requestId, Idle without one', async () => {
    const s = await logsOn();
    s.part.reportLog();
    await s.log(6);
    s.part.reportLog();
    await s.take();
    s.part.reportLog();
    expect(s.told(logAction)).to.deep.equal([
      { status: 'Idle' },
      { status: 'Uploading', requestId: 6 },
      { status: 'Uploading', requestId: 6 },
      { status: 'Uploaded', requestId: 6 },
      { status: 'Idle' },
    ]);
  });

  it('the end of the station ends its uploads without a report', async () => {
    const s = await logsOn();
    await s.log(1);
    await s.diagnostics();
    s.part.stop?.();
    await settled();
    expect([s.uploads.length, s.timers.waiting]).to.deep.equal([0, 0]);
    expect([s.statuses(logAction), s.statuses(diagnosticsAction)]).to.deep.equal([['Uploading 1'], ['Uploading']]);
  });
});

describe('OCPP 1.6 logs at an HTTP server', () => {
  it('the file arrives; a server that refuses it makes PermissionDenied', async () => {
    const server = await fileServer((request, response) => {
      response.writeHead(request.url?.startsWith('/logs/') === true ? 201 : 403).end();
    });
    try {
      const { later } = upkeepRig().timers;
      const s = await logsOn({ transfer: createFileTransfer({ later }) });
      const ended = async (status: string) => {
        while (s.statuses(logAction).at(-1) !== status) await new Promise(setImmediate);
      };
      const reply = await s.log(1, { remoteLocation: `${server.base}/logs` });
      await ended('Uploaded 1');
      await s.log(2, { remoteLocation: `${server.base}/no/` });
      await ended('PermissionDenied 2');
      await s.log(3, { remoteLocation: 'http://169.254.169.254/latest/' });
      await ended('UploadFailure 3');
      await s.log(4, { remoteLocation: 'ftp://127.0.0.1/logs/' });
      await ended('NotSupportedOperation 4');
      const [first] = server.received;
      expect([first?.method, first?.url]).to.deep.equal(['PUT', `/logs/${reply?.filename}`]);
      expect(first?.body.split('\n')).to.have.lengthOf(4);
      expect(server.received).to.have.lengthOf(2);
    } finally {
      await server.close();
    }
  });
});
