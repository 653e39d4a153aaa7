import { Boxes, ChartSpline, House, LifeBuoy, Megaphone, Receipt, Settings, Users } from "lucide-react";

import { Badge } from "@/components/ui/badge";
import { Progress } from "@/components/ui/progress";
import { cn } from "@/lib/utils";

const groups = [
  {
    title: "Shop",
    items: [
      { icon: House, label: "Overview", current: true },
      { icon: Receipt, label: "Orders", count: 12 },
      { icon: Boxes, label: "Products" },
      { icon: Users, label: "Customers" },
    ],
  },
  {
    title: "Grow",
    items: [
      { icon: ChartSpline, label: "Reports" },
      { icon: Megaphone, label: "Campaigns" },
    ],
  },
  {
    title: "More",
    items: [
      { icon: Settings, label: "Settings" },
      { icon: LifeBuoy, label: "Help" },
    ],
  },
];

export function DashboardSidebar() {
  return (
    <aside className="sticky top-0 hidden h-dvh w-64 shrink-0 flex-col border-r bg-card/50 p-4 lg:flex">
      <p className="flex items-center gap-2.5 px-2 py-1.5 font-semibold tracking-tight">
        <span className="grid size-7 place-items-center rounded-lg bg-primary text-sm text-primary-foreground">M</span>
        Marlow Supply
      </p>
      <nav className="mt-6 grid gap-6">
        {groups.map((group) => (
          <div key={group.title}>
            <p className="px-2 pb-2 text-xs font-medium text-muted-foreground">{group.title}</p>
            <ul className="grid gap-0.5">
              {group.items.map(({ icon: Icon, label, ...item }) => (
                <li key={label}>
                  <a
                    href={`#${label.toLowerCase()}`}
                    aria-current={"current" in item ? "page" : undefined}
                    className={cn(
                      "flex items-center gap-3 rounded-lg px-2.5 py-2 text-sm text-muted-foreground transition-colors hover:bg-accent hover:text-accent-foreground",
                      "current" in item && "bg-primary/15 font-medium text-foreground",
                    )}
                  >
                    <Icon className={cn("size-4", "current" in item && "text-primary")} />
                    {label}
                    {"count" in item && (
                      <Badge variant="secondary" className="ml-auto tabular-nums">
                        {item.count}
                      </Badge>
                    )}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="mt-auto rounded-xl border bg-card p-4">
        <p className="text-sm font-medium">April goal</p>
        <p className="mt-0.5 text-xs text-muted-foreground">$48,200 of $60,000</p>
        <Progress value={80} className="mt-3 h-1.5" />
      </div>
    </aside>
  );
}
