import { Bell, Download, Search } from "lucide-react";

import { DashboardSidebar } from "@/components/dashboard-sidebar";
import { MetricCards } from "@/components/metric-cards";
import { OrdersTable } from "@/components/orders-table";
import { RevenuePanel } from "@/components/revenue-panel";
import { Avatar, AvatarFallback } from "@/components/ui/avatar";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";

export default function Page() {
  return (
    <div className="flex min-h-dvh bg-background">
      <DashboardSidebar />
      <main className="min-w-0 flex-1">
        <header className="sticky top-0 z-30 flex h-16 items-center gap-3 border-b bg-background/80 px-5 backdrop-blur-xl sm:px-8">
          <div className="relative max-w-sm flex-1">
            <Search className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted-foreground" />
            <Input aria-label="Search" placeholder="Search orders, people, products" className="pl-9" />
          </div>
          <Button variant="ghost" size="icon" aria-label="News" className="relative ml-auto">
            <Bell />
            <span className="absolute top-2 right-2 size-2 rounded-full bg-primary ring-2 ring-background" />
          </Button>
          <Avatar>
            <AvatarFallback className="bg-primary/20 text-primary">MK</AvatarFallback>
          </Avatar>
        </header>
        <div className="mx-auto grid max-w-7xl grid-cols-1 gap-6 px-5 py-8 sm:px-8">
          <div className="flex flex-wrap items-end gap-4">
            <div>
              <p className="text-sm text-muted-foreground">Thursday, 16 April</p>
              <h1 className="mt-1 text-3xl font-semibold tracking-tight">Good afternoon, Maya</h1>
            </div>
            <Button variant="outline" className="ml-auto">
              <Download />
              Export
            </Button>
          </div>
          <MetricCards />
          <RevenuePanel />
          <OrdersTable />
        </div>
      </main>
    </div>
  );
}
