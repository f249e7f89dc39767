/** What the central system of the tests answers unless a test says otherwise. */
type Json = Record<string, unknown>;

/** @throws CentralRefusal to answer with a CALLERROR */
export type CentralAnswer = (payload: Json) => Json | Promise<Json>;

/** Answers a call with a CALLERROR. */
export class CentralRefusal extends Error {
  readonly code: string;

  constructor(code: string, description = '') {
    super(description);
    this.code = code;
  }
}

/** Every call that a charge point of 1.6 sends. @param nowMs time of the central system */
export function answers16(nowMs: () => number): Record<string, CentralAnswer> {
  let transactionId = 0;
  const currentTime = () => new Date(nowMs()).toISOString();
  const accepted = { idTagInfo: { status: 'Accepted' } };
  const empty = () => ({});
  return {
    Authorize: () => accepted,
    BootNotification: () => ({ status: 'Accepted', currentTime: currentTime(), interval: 300 }),
    DataTransfer: () => ({ status: 'Accepted' }),
    DiagnosticsStatusNotification: empty,
    FirmwareStatusNotification: empty,
    Heartbeat: () => ({ currentTime: currentTime() }),
    LogStatusNotification: empty,
    MeterValues: empty,
    SecurityEventNotification: empty,
    SignCertificate: () => ({ status: 'Accepted' }),
    SignedFirmwareStatusNotification: empty,
    StartTransaction: () => ({ ...accepted, transactionId: (transactionId += 1) }),
    StatusNotification: empty,
    StopTransaction: () => accepted,
  };
}
