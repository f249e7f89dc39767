/** The clients of a soak in a process of their own. */
import { Clients } from './clients.ts';
import type { ClientsOptions } from './clients.ts';
import { serve } from './remote.ts';
import type { Ports } from './tally.ts';

let clients: Clients | null = null;
const present = () => {
  if (clients === null) throw new Error('call open first');
  return clients;
};

serve({
  open(options: ClientsOptions) {
    clients = new Clients(options);
  },
  begin: (ports: Ports, checks: boolean) => present().begin(ports, checks),
  down: () => present().down(),
  ended: (killedAtMs: number) => present().ended(killedAtMs),
  excuse: () => present().excuse(),
  cut: () => present().cut(),
  leave: () => present().leave(),
  promised: () => present().promised,
  report: () => present().report(),
  end: () => present().end(),
});
