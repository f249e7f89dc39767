/** Runs: the history, one run (`runs/3`), or two beside each other (`runs/3/5`). */
import { route } from '../../../store/route';
import { Comparison } from './comparison';
import { History } from './history';
import { RunPage } from './run-page';

export function Runs() {
  const [, , run, other] = route.value.path;
  if (run === undefined) return <History />;
  if (other === undefined) return <RunPage key={run} id={run} />;
  return <Comparison key={`${run} ${other}`} first={run} second={other} />;
}
