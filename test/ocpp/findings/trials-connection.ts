/** Trials of the rules about the connection, the registration and the clock. */
import type { ocppConnectionRules } from '../../../src/finding-rules/ocpp-connection.ts';
import { url } from './rig.ts';
import { times } from './trial.ts';
import type { Trial } from './trial.ts';

export const connectionTrials: Readonly<Record<keyof typeof ocppConnectionRules, Trial>> = {
  subprotocol: {
    wrong: (rig) => {
      rig.judge.chose(url, 'ocpp1.5');
    },
    text: 'the handshake chooses ocpp1.5, which was not offered',
    right: (rig) => {
      rig.open('ocpp2.1');
    },
    trap: (rig) => {
      // a refusal of the handshake does not reach the judge
      rig.judge.closed();
    },
  },
  ping_unanswered: {
    wrong: (rig) => {
      const pingedMs = rig.findings.wall.monotonicMs();
      rig.pass(10_000);
      rig.call('GetConfiguration');
      rig.pass(20_000);
      rig.judge.unponged(pingedMs);
    },
    text: 'a ping is not answered within 30 s, while messages still came',
    right: (rig) => {
      rig.judge.ponged();
    },
    trap: (rig) => {
      rig.call('GetConfiguration');
      const pingedMs = rig.findings.wall.monotonicMs();
      rig.pass(9999);
      rig.call('GetConfiguration');
      rig.judge.unponged(pingedMs);
      rig.pass(10_000);
      rig.judge.disturbed();
      rig.call('GetConfiguration');
      rig.judge.unponged(pingedMs);
    },
  },
  remote_while_pending: {
    wrong: (rig) => {
      rig.call('RemoteStartTransaction', {}, 'remote_while_pending');
    },
    text: 'RemoteStartTransaction: why',
    right: (rig) => {
      rig.booted({ status: 'Pending' });
      rig.booted({});
    },
    trap: (rig) => {
      rig.call('GetConfiguration');
    },
  },
  call_while_rejected: {
    wrong: (rig) => {
      rig.isRegistered = false;
      rig.call('GetConfiguration', {}, 'call_while_rejected');
    },
    text: 'GetConfiguration: why',
    right: (rig) => {
      rig.booted({ status: 'Rejected' });
      rig.booted({});
    },
    trap: (rig) => {
      rig.isRegistered = false;
      rig.call('GetConfiguration');
    },
  },
  before_registration: {
    version: 'ocpp2.0.1',
    wrong: (rig) => {
      rig.isRegistered = false;
      rig.call('GetVariables', {}, 'before_registration');
    },
    text: 'GetVariables: why',
    right: (rig) => {
      rig.booted({ status: 'Rejected' });
      rig.booted({});
    },
    trap: (rig) => {
      rig.isRegistered = false;
      rig.call('TriggerMessage', { requestedMessage: 'BootNotification' });
    },
  },
  no_registration: {
    wrong: (rig) => {
      times(5, () => {
        rig.booted({ status: 'Pending' });
        rig.pass(150_000);
      });
    },
    text: 'BootNotification: the station is pending for 10 min and 5 answers, and no call came',
    right: (rig) => {
      rig.booted({ status: 'Pending' });
      rig.booted({});
    },
    trap: (rig) => {
      times(6, () => {
        rig.booted({ status: 'Pending' });
        rig.pass(110_000);
        rig.call('GetConfiguration');
        rig.pass(110_000);
      });
      times(9, () => {
        rig.booted({ status: 'Rejected' });
        rig.pass(150_000);
      });
    },
  },
  interval: {
    wrong: (rig) => {
      rig.booted({ interval: -1 });
      rig.finds('interval', 'BootNotification', 'own');
    },
    text: 'BootNotification: why',
    right: (rig) => {
      rig.booted({});
    },
    trap: (rig) => {
      rig.booted({ interval: 0 });
    },
  },
  interval_short: {
    wrong: (rig) => {
      rig.booted({ interval: 9 });
    },
    text: 'BootNotification: the interval is 9 s',
    right: (rig) => {
      rig.booted({ interval: 10 });
    },
    trap: (rig) => {
      rig.booted({ interval: 5, status: 'Pending' });
      rig.booted({ interval: 0 });
    },
  },
  interval_long: {
    wrong: (rig) => {
      rig.booted({ interval: 86_401 });
    },
    text: 'BootNotification: the interval is 86401 s',
    right: (rig) => {
      rig.booted({});
    },
    trap: (rig) => {
      rig.booted({ interval: 86_400 });
    },
  },
  current_time: {
    wrong: (rig) => {
      rig.booted({ currentTime: '1970-01-01T00:00:00Z' });
      rig.finds('current_time', 'BootNotification', 'own');
    },
    text: 'BootNotification: why',
    right: (rig) => {
      rig.booted({});
    },
    trap: (rig) => {
      rig.booted({ currentTime: '2026-06-21T10:00:00+02:00' });
    },
  },
  time_local: {
    wrong: (rig) => {
      times(3, () => {
        rig.beat(2 * 3_600_000 + 60_000);
      });
    },
    text: 'Heartbeat: currentTime is 121 min off UTC',
    right: (rig) => {
      rig.beat(0);
    },
    trap: (rig) => {
      times(2, () => {
        rig.beat(2 * 3_600_000);
      });
      rig.beat(15 * 60_000);
      times(2, () => {
        rig.beat(-3_600_000);
      });
      times(3, () => {
        rig.beat(-15 * 3_600_000);
      });
    },
  },
  time_wrong: {
    wrong: (rig) => {
      times(3, () => {
        rig.beat(15 * 60_000);
      });
    },
    text: 'Heartbeat: currentTime is 900 s off this machine',
    right: (rig) => {
      rig.beat(59_000);
    },
    trap: (rig) => {
      times(5, () => {
        rig.beat(3_600_000);
      });
      times(2, () => {
        rig.beat(100_000);
      });
    },
  },
};
