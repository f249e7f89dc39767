import { expect } from 'chai';
import { fileNameOf, shownLocation, TransferError, uploadUrl, withRetries } from '../../../src/ocpp/files/transfer.ts';
import type { TransferFailure } from '../../../src/ocpp/files/transfer.ts';
import { settled } from '../v16/fakes.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

function attempts(
  retries: number | undefined,
  retryIntervalS: number | undefined,
  failure: TransferFailure = 'broken',
) {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const ending = new AbortController();
  const beganMs = wall.nowMs();
  const atS: number[] = [];
  const moves: string[] = [];
  const done = withRetries(
    {
      later: timers.later,
      signal: ending.signal,
      retries,
      retryIntervalS,
      paused: () => moves.push('paused'),
      resumed: () => moves.push('resumed'),
    },
    () => {
      atS.push((wall.nowMs() - beganMs) / 1000);
      return Promise.reject(new TransferError(failure, `attempt ${atS.length}`));
    },
  ).then(
    () => 'done',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return {
    atS,
    moves,
    done,
    ending,
    timers,
    async run() {
      for (let n = 0; n < 200; n += 1) {
        await settled();
        if (timers.waiting > 0) timers.pass(timers.nextMs);
      }
      return done;
    },
  };
}

describe('OCPP transfers: attempts', () => {
  it('retries after the first attempt, retryInterval seconds apart; the last error counts', async () => {
    const s = attempts(3, 7);
    expect(await s.run()).to.equal('attempt 4');
    expect(s.atS).to.deep.equal([0, 7, 14, 21]);
    expect(s.moves).to.deep.equal(['paused', 'resumed', 'paused', 'resumed', 'paused', 'resumed']);
  });

  it('the station chooses two retries 30 s apart', async () => {
    const s = attempts(undefined, undefined);
    await s.run();
    expect(s.atS).to.deep.equal([0, 30, 60]);
  });

  it('0 and what is below: one attempt; an interval below 0 is 0', async () => {
    for (const retries of [0, -5]) {
      const s = attempts(retries, 10);
      await s.run();
      expect(s.atS).to.deep.equal([0]);
    }
    const s = attempts(1, -10);
    await s.run();
    expect(s.atS).to.deep.equal([0, 0]);
  });

  it('millions are cut to 100 retries and one day', async () => {
    const s = attempts(1_000_000, 1e9);
    await s.run();
    expect(s.atS).to.have.lengthOf(101);
    expect(s.atS[1]).to.equal(86_400);
  });

  for (const failure of ['bad_location', 'unsupported', 'too_large', 'cancelled'] as const)
    it(`${failure} is final`, async () => {
      const s = attempts(3, 1, failure);
      await s.run();
      expect(s.atS).to.deep.equal([0]);
    });

  it('a cancelled wait ends at once', async () => {
    const s = attempts(3, 1);
    await settled();
    expect(s.timers.waiting).to.equal(1);
    s.ending.abort();
    expect(await s.done).to.equal('the transfer was cancelled');
    expect([s.timers.waiting, s.atS.length]).to.deep.equal([0, 1]);
  });

  it('a cancelled transfer does not begin to wait', async () => {
    const ending = new AbortController();
    const timers = new HandTimers(new HandWall());
    const act = withRetries({ later: timers.later, signal: ending.signal, retries: 1, retryIntervalS: 1 }, () => {
      ending.abort();
      return Promise.reject(new Error('broken'));
    });
    expect(await act.catch((error: unknown) => (error as TransferError).failure)).to.equal('cancelled');
    expect(timers.waiting).to.equal(0);
  });
});

describe('OCPP transfers: locations', () => {
  it('logs show no credentials, no query, and no text that is no URL', () => {
    expect(shownLocation('https://u:S3CR3T-marker@h:8/a/b?S3CR3T-marker#S3CR3T-marker')).to.equal('https://h:8/a/b');
    expect(shownLocation('S3CR3T-marker')).to.equal('a location that is not a URL');
    expect(shownLocation('mailto:S3CR3T-marker')).to.equal('a location of mailto:');
  });

  it('a location with the name of a file is that file, any other one a folder', () => {
    const target = (location: string) => uploadUrl(new URL(location), 'a b.log').pathname;
    expect(target('http://h/x/own.log')).to.equal('/x/own.log');
    expect(target('http://h/x')).to.equal('/x/a%20b.log');
    expect(target('http://h/x/')).to.equal('/x/a%20b.log');
    expect(target('http://h')).to.equal('/a%20b.log');
  });

  it('the name of a file is decoded where it can be', () => {
    expect(fileNameOf(new URL('http://h/x/a%20b.bin'))).to.equal('a b.bin');
    expect(fileNameOf(new URL('http://h/x/%ff.bin'))).to.equal('%ff.bin');
    expect(fileNameOf(new URL('http://h/'))).to.equal('');
  });
});
