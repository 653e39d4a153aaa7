import { ArrowDownRight, ArrowUpRight } from "lucide-react";

import { Card } from "@/components/ui/card";
import { Sparkline } from "@/components/ui/chart";
import { cn } from "@/lib/utils";

const metrics = [
  {
    name: "Revenue",
    value: "$48,214",
    change: 12.4,
    color: "var(--chart-1)",
    values: [18, 22, 20, 26, 25, 31, 34, 33, 40],
  },
  {
    name: "Orders",
    value: "1,284",
    change: 8.1,
    color: "var(--chart-2)",
    values: [30, 28, 33, 31, 36, 39, 37, 42, 44],
  },
  {
    name: "Average order value",
    value: "$37.55",
    change: 3.9,
    color: "var(--chart-3)",
    values: [34, 35, 33, 36, 36, 37, 36, 38, 38],
  },
  {
    name: "Returns",
    value: "2.1%",
    change: -0.6,
    color: "var(--chart-4)",
    values: [31, 29, 30, 27, 26, 27, 24, 22, 21],
    good: true,
  },
];

export function MetricCards() {
  return (
    <section aria-label="Key figures" className="grid gap-4 sm:grid-cols-2 xl:grid-cols-4">
      {metrics.map((metric) => {
        const up = metric.change > 0;
        const Arrow = up ? ArrowUpRight : ArrowDownRight;
        return (
          <Card key={metric.name} className="gap-0 overflow-hidden pt-5 pb-0">
            <div className="flex items-center justify-between px-5">
              <p className="text-sm text-muted-foreground">{metric.name}</p>
              <span
                className={cn(
                  "flex items-center gap-0.5 rounded-full bg-chart-2/15 py-0.5 pr-2 pl-1 text-xs font-medium text-chart-2",
                  !up && !metric.good && "bg-destructive/15 text-destructive",
                )}
              >
                <Arrow className="size-3.5" />
                {Math.abs(metric.change)}%
              </span>
            </div>
            <p className="mt-2 px-5 text-3xl font-semibold tracking-tight tabular-nums">{metric.value}</p>
            <p className="mt-1 px-5 text-xs text-muted-foreground">vs. previous 30 days</p>
            <Sparkline values={metric.values} color={metric.color} className="mt-4 h-14" />
          </Card>
        );
      })}
    </section>
  );
}
