/** Settings of the SunSpec client, which is otherwise controlled over REST. */
import { setting } from './setting.ts';
import { onOff } from './value-kinds.ts';

export const clientSettings = {
  client_pty: setting({
    flags: ['--client_pty'],
    kind: onOff,
    default: false,
    doc:
      'Lets REST clients connect the SunSpec client to pseudo terminals (/dev/pts/N), for example those of ' +
      'socat. The terminals of open shells are among them.',
  }),
};
